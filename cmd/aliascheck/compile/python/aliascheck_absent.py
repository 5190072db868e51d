"""Under `aliascheck run --target`: what the command would have compiled for a GPU is
compiled for one that is not there, and nothing of it is run. Functions return zeros of
the right shapes, so that a test gets as far as it can.

The hook is jax._src.pjit._pjit_call_impl_python, which every call of a jitted function
goes through that is not inside another: from Python, from C++, from grad and vmap. It is
there in 0.5.3, 0.7.2, 0.9.1, 0.10.2 and 0.11.2; a JAX without it is refused. Functions of
JAX itself (jnp.zeros, random keys) run on the CPU as always, unless the CPU cannot: then
they hold a kernel. Beside the process's dump directory lies a record, DIRECTORY.absent.jsonl,
one JSON object a line:

    {"event": "ready", "jax"}          the first function came
    {"event": "refused", "error", "mend"}
    {"event": "compiled", "name", "placeholders": [TARGET...]}
    {"event": "fail", "name", "error", "mend", "place"}
"""

import importlib.machinery
import json
import os
import sys
import threading

import aliascheck_run
import aliascheck_target


class _Loader:
    """Loads jax as its own loader does, and then hooks in."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        hook(module)


def watched(name, path):
    """The spec of jax, with a loader that hooks in."""
    aliascheck_target.prepare_environment()
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _Loader(spec.loader)
    return spec


def hook(jax):
    pjit = sys.modules.get("jax._src.pjit")
    original = getattr(pjit, "_pjit_call_impl_python", None)
    if original is None:
        write(event="refused", error="JAX %s cannot be hooked into: it was tried up to 0.11.2" % jax.__version__, mend="")
        return
    absent = Absent(jax, original)
    pjit._pjit_call_impl_python = absent.call
    jax.default_backend = lambda: "gpu"  # tests look at it to choose a kernel, or to skip
    Absent.here = absent


def write(**line):
    try:
        with open(aliascheck_run.directory() + ".absent.jsonl", "a") as f:
            f.write(json.dumps(line) + "\n")
    except OSError:
        pass  # a full disk is the audit's to tell


class Absent:
    """Calls of jitted functions, compiled for the target."""

    here = None

    def __init__(self, jax, original):
        self.jax, self.original = jax, original
        self.own = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep
        # Newer releases return the constants that were arguments, too.
        self.extra = ([],) if "const_args" in original.__code__.co_names + original.__code__.co_varnames or jax.version.__version_info__ >= (0, 7) else ()
        self.lock = threading.RLock()
        self.target, self.refused, self.known = None, False, {}
        self.calls = 0  # for the pytest plugin: which tests came to a program at all
        self.busy = threading.local()

    def call(self, *args, **params):
        if self.refused or getattr(self.busy, "now", False):
            return self.original(*args, **params)
        jaxpr = params["jaxpr"]
        if not self._is_jax(jaxpr):
            return self._absent(jaxpr, params)
        try:
            return self.original(*args, **params)
        except Exception as error:
            try:
                return self._absent(jaxpr, params, quiet=True)
            except Exception:
                raise error

    def _is_jax(self, jaxpr):
        """Whether a function is JAX's own."""
        info = getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)
        source = getattr(info, "func_src_info", None) or ""
        return source.rpartition(" at ")[2].startswith(self.own)

    def _absent(self, jaxpr, params, quiet=False):
        with self.lock:
            if self.target is None and not self._start():
                raise RuntimeError("aliascheck: nothing can be compiled for %s here" % os.environ["ALIASCHECK_TARGET"])
            self.calls += 1
            key = (id(jaxpr), params["donated_invars"])
            if key not in self.known:
                self.known[key] = jaxpr  # which keeps its id
                self._compile(jaxpr, params, quiet)
        return ([self._zeros(a) for a in jaxpr.out_avals], None, None) + self.extra

    def _start(self):
        try:
            with open(os.environ["ALIASCHECK_TARGET_CONFIG"]) as f:
                config = f.read()
            self.target = aliascheck_target.Target(dict(target=os.environ["ALIASCHECK_TARGET"], config=config, dump=aliascheck_run.directory()))
        except aliascheck_target.Trouble as trouble:
            self.refused = True
            write(event="refused", error=str(trouble), mend=trouble.mend)
            return False
        write(event="ready", jax=self.target.jax)
        return True

    def _compile(self, jaxpr, params, quiet):
        name = params.get("name") or "program"
        self.busy.now = True
        try:
            _, placeholders, _ = self.target.compile(_Lowering(self.jax, jaxpr, params, name))
            write(event="compiled", name=name, placeholders=placeholders)
        except BaseException as error:
            if not quiet:
                text, mend = aliascheck_target.explain(error, self.target)
                write(event="fail", name=name, error=text, mend=mend, place=os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" (", 1)[0])
            raise
        finally:
            self.busy.now = False

    def _zeros(self, aval):
        import numpy

        if self.jax.dtypes.issubdtype(aval.dtype, self.jax.dtypes.extended):
            key = self.jax.random.key(0, impl=aval.dtype._impl.name)
            return self.jax.numpy.broadcast_to(key, aval.shape)
        return self.jax.device_put(numpy.zeros(aval.shape, aval.dtype))


class _Lowering:
    """A jaxpr as a program of aliascheck_target.Target."""

    def __init__(self, jax, jaxpr, params, name):
        self.jax, self.jaxpr, self.params, self.name = jax, jaxpr, params, name

    def lower(self, target):
        jax, whole = self.jax, target.whole()
        for s in tuple(self.params["in_shardings"]) + tuple(self.params["out_shardings"]):
            if getattr(s, "num_devices", 1) > 1:
                raise aliascheck_target.Trouble("it runs over %d devices, and here it could be compiled for one" % s.num_devices,
                                                "aliascheck compile --mesh compiles for several")
        from jax._src import core

        function = core.jaxpr_as_fun(self.jaxpr)

        def program(*args):
            return function(*args)

        program.__name__ = self.name
        args = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=whole) for a in self.jaxpr.in_avals]
        donated = tuple(n for n, d in enumerate(self.params["donated_invars"]) if d)
        options = dict(donate_argnums=donated, keep_unused=self.params.get("keep_unused", False))
        if not args:
            options["out_shardings"] = whole
        lowered = jax.jit(program, **options).lower(*args)
        return lambda options: lowered.compile(compiler_options=options)
