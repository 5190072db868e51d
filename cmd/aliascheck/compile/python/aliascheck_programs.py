"""What to compile: WHAT of the command line, or of .aliascheck.yaml, as programs.

A WHAT is `package.module:function` or `path/file.py:function` with arguments, the same
where the function returns or yields `(name, function, args, options)`, a file that
jax.export serialized, or StableHLO: text, bytecode, or a portable artifact.
"""

import contextlib
import difflib
import importlib
import importlib.util
import inspect
import os
import re
import sys

from aliascheck_target import Trouble

# Shapes as HLO writes them, and the names that people use besides.
_DTYPES = {
    "pred": "bool_", "bool": "bool_", "s2": "int2", "s4": "int4", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "u2": "uint2", "u4": "uint4", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fnuz": "float8_e4m3fnuz", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3": "float8_e4m3", "f8e3m4": "float8_e3m4",
    "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
}
_DTYPES.update({"i" + name[1:]: dtype for name, dtype in list(_DTYPES.items()) if name[0] == "s"})
_SHAPE = re.compile(r"([a-z]\w*)\[([\d,\s]*)\](?:@(.*))?$")
_OPTIONS = {"donate", "donate_argnums", "donate_argnames", "static", "static_argnums", "static_argnames",
            "in_shardings", "out_shardings", "mesh", "kwargs"}


class Program:
    """A function with its arguments, ready to be lowered."""

    def __init__(self, name, function, args, kwargs, jit, mesh):
        self.name, self.function, self.args, self.kwargs, self.jit, self.mesh = name, function, args, kwargs, jit, mesh

    def lower(self, target):
        """Traces and lowers; what it returns takes XLA's options and compiles."""
        import jax

        mesh = target.mesh(*self.mesh) if self.mesh else None
        whole = target.whole(mesh)
        spec = lambda s: jax.sharding.NamedSharding(mesh, s) if isinstance(s, jax.sharding.PartitionSpec) else s
        is_spec = lambda s: isinstance(s, jax.sharding.PartitionSpec)
        jit = {k: jax.tree_util.tree_map(spec, v, is_leaf=is_spec) if k.endswith("shardings") else v for k, v in self.jit.items()}
        sharded = jit.get("in_shardings") is not None
        static = jit.get("static_argnums", ())
        static = (static,) if isinstance(static, int) else static
        names = jit.get("static_argnames", ())
        names = (names,) if isinstance(names, str) else names
        args = [a if n in static else _abstract(a, whole, sharded, spec) for n, a in enumerate(self.args)]
        kwargs = {k: v if k in names else _abstract(v, whole, sharded, spec) for k, v in self.kwargs.items()}
        arrays = [leaf for n, a in enumerate(args) if n not in static for leaf in jax.tree_util.tree_leaves(a)]
        arrays += jax.tree_util.tree_leaves(kwargs)
        if not any(isinstance(a, jax.ShapeDtypeStruct) for a in arrays):
            jit.setdefault("out_shardings", whole)  # else nothing says where it is to run
        function = self.function
        if jit or not hasattr(function, "lower"):
            function = jax.jit(_named(function, self.name), **jit)
        with _in_mesh(mesh):
            lowered = function.lower(*args, **kwargs)
        return lambda options: lowered.compile(compiler_options=options)


class StableHLO:
    """A module as it stands in a file."""

    def __init__(self, name, path):
        self.name, self.path = name, path

    def lower(self, target):
        from jax._src import compiler
        from jax._src.interpreters import mlir

        with open(self.path, "rb") as f:
            data = f.read()
        context = mlir.make_ir_context()
        with context:
            module = _parse(mlir, context, data, self.path)
            attributes = module.operation.attributes
            count = lambda name: attributes[name].value if name in attributes else 1
            replicas, partitions = count("mhlo.num_replicas"), count("mhlo.num_partitions")
        import numpy

        devices = target.devices(replicas * partitions)
        assignment = numpy.array(devices).reshape(replicas, partitions)

        def compile(options):
            made = compiler.get_compile_options(replicas, partitions, _ids(assignment), env_options_overrides=options)
            made.executable_build_options.use_spmd_partitioning = partitions > 1
            with context:
                return _client_compile(devices, (module, mlir.module_to_bytecode(module)), made)

        return compile


def _ids(assignment):
    import numpy

    return numpy.vectorize(lambda d: d.id, otypes=[int])(assignment)


def _client_compile(devices, forms, options):
    """Compiles a module as JAX itself does: releases differ in what they take."""
    from jax._src.lib import xla_client as xc

    client, refusal = devices[0].client, None
    for code in forms:
        for keywords in (dict(executable_devices=_device_list(xc, devices)), {}):
            try:
                return client.compile(code, compile_options=options, **keywords)
            except TypeError as error:
                refusal = error
    raise refusal


def _device_list(xc, devices):
    kind = getattr(xc, "DeviceList", None)
    return kind(tuple(devices)) if kind else devices


def _parse(mlir, context, data, path):
    """StableHLO from text, bytecode, or a portable artifact (bytecode whose dialect is vhlo)."""
    from jax._src.lib.mlir import ir

    refusal = None
    try:
        if data[:4] != b"ML\xefR":
            return ir.Module.parse(data.decode("utf-8"))
        if b"StableHLO_v" not in data[:64]:
            return ir.Module.parse(data)
    except Exception as error:
        refusal = error
    if data[:4] == b"ML\xefR":
        for deserialize in _deserializers(context):
            try:
                module = deserialize(data)
                return ir.Module.parse(module) if isinstance(module, (str, bytes)) else module
            except Exception as error:
                refusal = refusal or error
    raise Trouble("%s is no StableHLO that this JAX can read: %s" % (path, (str(refusal).strip().splitlines() or [""])[0]))


def _deserializers(context):
    """What reads a portable artifact: it has moved between releases."""
    with contextlib.suppress(ImportError):
        from jaxlib.mlir.dialects import stablehlo

        yield lambda data: stablehlo.deserialize_portable_artifact(context, data)
    for name in ("jaxlib._jax", "jaxlib.xla_extension"):
        with contextlib.suppress(ImportError, AttributeError):
            reader = importlib.import_module(name).mlir.deserialize_portable_artifact
            yield lambda data: reader(data)


def programs(target, entry):
    """Yields the programs of one WHAT."""
    what = entry["what"]
    if os.path.isfile(what):
        yield _file(target, entry)
        return
    function, label = _find(what)
    mesh = parse_mesh(entry.get("mesh"))
    if entry.get("args") is not None:
        args = [parse_argument(text, mesh) for text in split_arguments(entry["args"])]
        jit = _jit_options(dict(donate=entry.get("donate"), static=entry.get("static")), what)
        yield Program(entry.get("name") or label, function, args, {}, jit, mesh)
        return
    yield from _listed(target, what, function, mesh)


def _listed(target, what, listing, mesh):
    """The programs that a function returns or yields, or that a list holds."""
    if callable(listing):
        wanted = [p for p in inspect.signature(listing).parameters.values() if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if [p.name for p in wanted] == ["mesh"]:
            listing = listing(target.mesh(*mesh) if mesh else target.mesh((1,), ("x",)))
        elif wanted:
            raise Trouble("%s takes %s: say of what shapes" % (what, ", ".join(p.name for p in wanted)),
                          "--args 'f32[4096,1024] i32[4096]', with one shape for each")
        else:
            listing = listing()
    if isinstance(listing, dict):
        listing = [(name,) + tuple(p) for name, p in listing.items()]
    if isinstance(listing, (str, bytes)) or not hasattr(listing, "__iter__"):
        raise Trouble("%s returns %s: without --args, programs were expected, as (name, function, args, options)" % (what, type(listing).__name__),
                      "--args '' compiles %s itself, without arguments" % what)
    for item in listing:
        if not isinstance(item, (tuple, list)) or not 2 <= len(item) <= 4 or not isinstance(item[0], str) or not callable(item[1]):
            raise Trouble("%s yields %.60r: (name, function, args, options) was expected" % (what, item))
        name, function, args, options = (tuple(item) + ((), {}))[:4] if len(item) != 3 else tuple(item) + ({},)
        options = dict(options or {})
        own = options.pop("mesh", None)
        kwargs = options.pop("kwargs", None) or {}
        yield Program(name, function, tuple(args), kwargs, _jit_options(options, what), parse_mesh(own) if own else mesh)


def _jit_options(options, what):
    unknown = set(options) - _OPTIONS
    if unknown:
        raise Trouble("%s has an option %s: %s are known" % (what, ", ".join(sorted(unknown)), ", ".join(sorted(_OPTIONS))))
    jit = {k: v for k, v in options.items() if v is not None and k not in ("donate", "static")}
    for short, long in (("donate", "donate_argnums"), ("static", "static_argnums")):
        if options.get(short) not in (None, (), []):
            jit[long] = options[short] if isinstance(options[short], int) else tuple(options[short])
    return jit


def _find(what):
    """The function that `package.module:function` or `path/file.py:function` names."""
    place, _, name = what.rpartition(":")
    if not place:
        raise Trouble("there is no file %s, and it names no function" % what, "package.module:function, or path/file.py:function")
    if place.endswith(".py"):
        module = _load(place)
    else:
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # as `python -m` does
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name and (place == error.name or place.startswith(error.name + ".")):
                raise Trouble("there is no Python module %s" % place, "run it where the module can be imported, or name its file: path/file.py:%s" % name)
            raise
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, [n for n in dir(found) if not n.startswith("__")], 1)
            raise Trouble("%s has no %s" % (place, name), "did you mean %s:%s?" % (place, near[0]) if near else "")
        found = getattr(found, part)
    return found, name.split(".")[-1]


def _load(path):
    if not os.path.isfile(path):
        raise Trouble("there is no file %s" % path)
    folder, stem = os.path.dirname(os.path.abspath(path)), os.path.splitext(os.path.basename(path))[0]
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as running the file does
    spec = importlib.util.spec_from_file_location(stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[stem]
        raise
    return module


def _file(target, entry):
    """A file: what jax.export serialized, or StableHLO."""
    path = entry["what"]
    name = entry.get("name") or re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    if path.endswith((".mlir", ".stablehlo", ".mlirbc")) or _is_mlir(path):
        return StableHLO(name, path)
    from jax import export

    with open(path, "rb") as f:
        data = f.read()
    try:
        exported = export.deserialize(bytearray(data))
    except ImportError as error:
        raise Trouble("%s: %s" % (path, str(error).splitlines()[0]), "%s -m pip install flatbuffers" % sys.executable)
    except Exception as error:
        raise Trouble("%s is neither StableHLO nor what jax.export serialized: %s" % (path, type(error).__name__))
    if not any(p.lower() in ("cuda", "gpu") for p in exported.platforms):
        raise Trouble("%s was exported for %s, not for CUDA" % (path, ", ".join(exported.platforms)),
                      "jax.export.export(f, platforms=('cuda',))")
    return _exported(name, exported, entry)


def _is_mlir(path):
    with open(path, "rb") as f:
        head = f.read(4096)
    return head[:4] == b"ML\xefR" or b"stablehlo" in head or re.match(rb"\s*(//[^\n]*\n\s*)*(module\b|#loc)", head) is not None


def _exported(name, exported, entry):
    import jax

    donated = tuple(n for n, d in enumerate(_donated(exported)) if d)
    mesh, shardings = parse_mesh(entry.get("mesh")), None
    if exported.nr_devices > 1:
        mesh = mesh or ((exported.nr_devices,), ("x",))
        shardings = exported
    call = lambda *flat: exported.call(*_unflatten(exported, flat))
    args = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in exported.in_avals]
    if entry.get("args") is not None:  # for shapes that were exported as symbols
        args = [parse_argument(text, mesh) for text in split_arguments(entry["args"])]
    elif not all(isinstance(n, int) for a in exported.in_avals for n in a.shape):
        raise Trouble("%s was exported for shapes with symbols: %s" % (entry["what"], ", ".join(str(a) for a in exported.in_avals)),
                      "--args with a shape for each")
    program = Program(name, call, args, {}, {"donate_argnums": donated} if donated else {}, mesh)
    if shardings is None:
        return program
    lower = program.lower

    def with_shardings(target):
        program.jit["in_shardings"] = tuple(exported.in_shardings_jax(target.mesh(*mesh)))
        return lower(target)

    program.lower = with_shardings
    return program


def _unflatten(exported, flat):
    import jax

    args, kwargs = jax.tree_util.tree_unflatten(exported.in_tree, flat)
    if kwargs:
        raise Trouble("it was exported with keyword arguments: wrap the function before it is exported")
    return args


def _donated(exported):
    """Which flat arguments were donated, as the attributes of @main say."""
    text = exported.mlir_module()
    head = re.search(r"func\.func public @main\((.*)", text)
    if not head:
        return []
    arguments = re.split(r"%arg\d+:", head.group(1))[1:]
    skip = len(arguments) - len(exported.in_avals)  # the platform's index, and dimensions
    flags = ["tf.aliasing_output" in a.split(") -> ")[0] or "jax.buffer_donor" in a.split(") -> ")[0] for a in arguments]
    return flags[max(skip, 0):]


def parse_mesh(text):
    """2x4, or data=2,model=4: the sizes and the names of a mesh's axes."""
    if not text:
        return None
    if "=" in text:
        pairs = [part.split("=") for part in text.split(",")]
        names, sizes = tuple(p[0].strip() for p in pairs), [p[-1] for p in pairs]
    else:
        sizes = text.split("x")
        names = tuple("xyzuvw"[:len(sizes)])
    if not all(s.strip().isdigit() and int(s) > 0 for s in sizes) or len(names) != len(sizes):
        raise Trouble("mesh %r: 2x4, or data=2,model=4 was expected" % text)
    return tuple(int(s) for s in sizes), names


def split_arguments(text):
    return re.findall(r"[^\s\[]+(?:\[[^\]]*\]\S*)?", text)


def parse_argument(text, mesh):
    """f32[4096,1024], f32[8,128]@x,- (sharded over axis x), or a number."""
    match = _SHAPE.match(text)
    if not match:
        with contextlib.suppress(ValueError):
            return int(text)
        with contextlib.suppress(ValueError):
            return float(text)
        raise Trouble("argument %r: a shape like f32[4096,1024] was expected, or a number" % text)
    import jax
    import jax.numpy as jnp

    name = _DTYPES.get(match.group(1), match.group(1))
    dtype = getattr(jnp, name, None)
    if dtype is None or not isinstance(dtype, type(jnp.float32)):
        near = difflib.get_close_matches(match.group(1), _DTYPES, 1)
        raise Trouble("argument %r: this JAX has no type %s" % (text, match.group(1)), "did you mean %s?" % near[0] if near else "")
    shape = tuple(int(n) for n in match.group(2).split(",") if n.strip())
    if match.group(3) is None:
        return jax.ShapeDtypeStruct(shape, dtype)
    if mesh is None:
        raise Trouble("argument %r is sharded, and there is no mesh" % text, "--mesh 2x4")
    parts = [None if p in ("-", "") else tuple(p.split("+")) if "+" in p else p for p in match.group(3).split(",")]
    return _Sharded(shape, dtype, jax.sharding.PartitionSpec(*parts))


class _Sharded:
    """An argument that is sharded over a mesh which a target makes."""

    def __init__(self, shape, dtype, spec):
        self.shape, self.dtype, self.spec = shape, dtype, spec


def _abstract(tree, whole, sharded, spec):
    """The arguments without contents, on the target's devices."""
    import jax

    def leaf(x):
        if isinstance(x, _Sharded):
            return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=spec(x.spec))
        if not hasattr(x, "shape") or not hasattr(x, "dtype"):
            return x
        own = getattr(x, "sharding", None) if isinstance(x, jax.ShapeDtypeStruct) else None
        if isinstance(own, jax.sharding.PartitionSpec):
            own = spec(own)
        sharding = own if own is not None else None if sharded else whole
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding)

    return jax.tree_util.tree_map(leaf, tree, is_leaf=lambda x: isinstance(x, _Sharded))


def _named(function, name):
    """The function under its program's name, which XLA gives the module."""
    if getattr(function, "__name__", None) == name:
        return function

    def call(*args, **kwargs):
        return function(*args, **kwargs)

    with contextlib.suppress(TypeError, ValueError):
        call.__signature__ = inspect.signature(function)
    call.__name__ = call.__qualname__ = re.sub(r"\W", "_", name)
    return call


@contextlib.contextmanager
def _in_mesh(mesh):
    """Makes a mesh the current one, for shard_map and names of axes without one."""
    if mesh is None:
        yield
        return
    with mesh:
        yield
