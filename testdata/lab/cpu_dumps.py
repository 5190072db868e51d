"""Small JAX programs that run on the CPU of any machine, for dumps of many JAX releases.

    XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_as_text" python cpu_dumps.py NAME...

compiles the named programs (all of them where none is named) and runs nothing: the
custom calls of the lab (targets lab_*) have no kernel, and a release that looks for
one stops after it has written the dump. Works from JAX 0.4.13 on.
"""
import inspect
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir

try:
    from jax.extend.core import Primitive
except ImportError:
    from jax.core import Primitive
try:
    from jax.core import ShapedArray
except ImportError:
    from jax._src.core import ShapedArray
try:
    # Metadata must not carry the paths of the machine that made the dump.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
except (AttributeError, ValueError):
    pass
PROGRAMS = {}
F = ShapedArray((64, 8), np.float32)
X = np.arange(512, dtype=np.float32).reshape(64, 8)
SQUARE = np.eye(8, dtype=np.float32) * 4 + 1


def program(*args, donate=()):
    def register(f):
        PROGRAMS[f.__name__] = (f, args, donate)
        return f
    return register


# ---- one primitive that lowers to any custom call

lab_call_p = Primitive("lab_call")
lab_call_p.multiple_results = True
lab_call_p.def_abstract_eval(lambda *_, outs, **__: list(outs))


newer = "operand_output_aliases" in inspect.signature(mlir.custom_call).parameters


def lower_lab_call(ctx, *operands, target, outs, config, aliases, side_effect, api):
    from jax._src.lib.mlir import ir
    layout = lambda a: tuple(range(a.ndim))[::-1]
    kinds = [ir.RankedTensorType.get(a.shape, mlir.dtype_to_ir_type(a.dtype)) for a in outs]
    known = dict(
        has_side_effect=side_effect, operand_output_aliases=dict(aliases), api_version=api,
        operand_layouts=[layout(a) for a in ctx.avals_in], result_layouts=[layout(a) for a in outs])
    if newer:
        if api == 4:  # the typed FFI takes a dictionary
            number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 7)
            config = {"opaque": ir.StringAttr.get(config), "count": number}
        out = mlir.custom_call(target, result_types=kinds, operands=operands, backend_config=config, **known)
        return out.results
    from jaxlib.hlo_helpers import custom_call
    out = custom_call(target, kinds, operands, backend_config=config, **known)
    return [out] if len(kinds) == 1 else list(out)


mlir.register_lowering(lab_call_p, lower_lab_call)


def call(target, *operands, outs, config=b"", aliases=(), side_effect=False, api=2):
    return lab_call_p.bind(*operands, target=target, outs=tuple(outs), config=config,
                           aliases=tuple(aliases), side_effect=side_effect, api=api if newer else 2)


def in_place(x, api=2):
    return call("lab_in_place", x, outs=[F], aliases=[(0, 0)], api=api)[0]


def apart(x):
    return call("lab_apart", x, outs=[F], config=b'quote " back \\ tab \t end')[0]


# ---- LAPACK

@program(SQUARE)
def factor(a):
    q, r = jnp.linalg.qr(a)
    return jnp.linalg.cholesky(a @ a.T), q, r


@program(SQUARE)
def spectra(a):
    w, v = jnp.linalg.eigh(a + a.T)
    return jnp.linalg.svd(a), w, v


@program(SQUARE, SQUARE, donate=(1,))
def solve(a, b):
    return jnp.linalg.solve(a, b * 2) + b


# ---- declared pairs

@program(X)
def declared(x):
    return in_place(x * 2) + 1


@program(X, donate=(0,))
def declared_donated(x):
    return in_place(x)


@program(X)
def declared_kept(x):
    return in_place(x), x + 1


@program(X, X + 1, donate=(1,))
def two_results(x, y):
    outs = [F, ShapedArray((16,), np.int32), F]
    a, b, c = call("lab_two_results", x + 1, y, x, outs=outs, aliases=[(0, 2), (1, 0)], config=b"key=value", side_effect=True)
    return a + c, b


@program(X)
def typed(x):
    return in_place(x - 1, api=4) + 1


@program(X)
def undeclared(x):
    return apart(apart(x) * 2)


# ---- control flow

@program(X)
def loop(x):
    def body(i, state):
        a, b = state
        return apart(a) + i, in_place(b)
    return lax.fori_loop(0, 5, body, (x, x + 1))


@program(X)
def loop_condition(x):
    def condition(state):
        return jnp.sum(apart(state)) < 100.0
    return lax.while_loop(condition, lambda s: in_place(s) * 1.5, x)


@program(X, np.int32(1))
def branches(x, k):
    return lax.switch(k, [in_place, apart, lambda v: v * 3], x + 1) - 1


@program(X, True)
def either(x, p):
    return lax.cond(p, lambda v: (in_place(v), v), lambda v: (v, apart(v)), x * 2)


@program(X)
def scanned(x):
    table = jnp.asarray(np.arange(24, dtype=np.float32).reshape(3, 8))
    def step(carry, row):
        return in_place(carry + row), jnp.sum(apart(carry), axis=0)
    return lax.scan(step, x, table)


@program(X)
def nested_loops(x):
    inner = lambda i, v: in_place(v) + i
    return lax.fori_loop(0, 3, lambda i, v: lax.fori_loop(0, i, inner, apart(v)), x)


# ---- other things that a dump can hold

@program(X)
def big_constant(x):
    table = np.random.default_rng(1).standard_normal((64, 8)).astype(np.float32)
    return apart(x + jnp.asarray(table)), apart(jnp.asarray(table))


@program(X)
def ordered(x):
    return lax.sort((x, apart(x)), num_keys=1)


@program(X)
def host(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda v: v, shape, x + 1) * 2


@program(X)
def barrier(x):
    if hasattr(lax, "optimization_barrier"):
        x = lax.optimization_barrier((x, x + 1))[1]
    return apart(x)


@program(np.zeros((0, 8), np.float32), X)
def empty(z, x):
    return call("lab_empty", z, x, outs=[ShapedArray((0, 8), np.float32), F], aliases=[(0, 0)])


@program(X)
def types(x):
    outs = [ShapedArray((3,), np.dtype(t)) for t in (np.bool_, np.int8, np.uint16, np.complex64)]
    outs += [ShapedArray((5,), jnp.bfloat16.dtype), ShapedArray((), np.float16)]
    return call("lab_types", x, outs=outs)


def main(names):
    for name in names or PROGRAMS:
        f, args, donate = PROGRAMS[name]
        try:
            jax.jit(f, donate_argnums=donate).lower(*args).compile()
        except Exception as e:  # no kernel for the lab's targets: the dump is there
            print(f"{name}: {type(e).__name__}: {str(e)[:200]}", file=sys.stderr)


main(sys.argv[1:])
