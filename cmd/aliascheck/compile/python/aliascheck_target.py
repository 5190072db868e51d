"""The GPU that is compiled for: its topology, its answers, and the compilation itself.

What is known of JAX's releases here was tried on 0.5.3, 0.7.2, 0.9.1, 0.10.2 and
0.11.2. `aliascheck run --target` uses this module as well.
"""

import contextlib
import importlib.metadata
import os
import re
import shutil
import sys
import tempfile

OLDEST = (0, 5, 0)
_MODULE = re.compile(r"(?:\d+\.)?module_(\d+)\.")
_UNKNOWN_FIELD = re.compile(r'has no field named "(\w+)"')
_UNKNOWN_OPTION = re.compile(r"No such compile option: '(\w+)'")
_UNREGISTERED = re.compile(r"No (?:FFI handler registered for|registered implementation for custom call to) \"?([^\s\"]+)\"?")

# What XLA without a card refuses, and the option that lets it go on: (release's words,
# option, value, what it changes). The kernels that XLA chooses for itself may then not
# be those of a card; custom calls stay what they are.
_WITHOUT_A_CARD = (
    ("autotune result cache hit for deviceless", "xla_gpu_autotune_level", 0, "XLA's own autotuning is off"),
    ("CubSort", "xla_gpu_enable_cub_radix_sort", False, "sorts do without CUB"),
)


class Trouble(Exception):
    """What the user can mend, and how."""

    def __init__(self, text, mend=""):
        super().__init__(text)
        self.mend = mend


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def numbers_of(text):
    """0.10.2.dev20260101 -> (0, 10, 2)"""
    return tuple(int(n) for n in re.findall(r"\d+", text)[:3])


def prepare_environment():
    """What must be set before JAX is imported."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"  # a hit leaves no dump
    # Some plugins look for a driver's CUDA when they are loaded, and give up.
    os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"


def cuda_major(jax_version):
    """The CUDA that a release's plugin is to be installed for: what is here, else the usual."""
    for major in ("13", "12"):
        if version("jax-cuda%s-plugin" % major):
            return major
    return "13" if numbers_of(jax_version) >= (0, 11, 0) else "12"


def pip_lines(jax_version):
    """What to install beside a release of JAX, by what is missing."""
    major = cuda_major(jax_version)
    nvcc = "nvidia-cuda-nvcc" if major == "13" else "nvidia-cuda-nvcc-cu12"
    python = sys.executable or "python3"
    return {
        "plugin": "%s -m pip install 'jax-cuda%s-plugin==%s' 'jax-cuda%s-pjrt==%s' %s absl-py" % (
            python, major, jax_version, major, jax_version, nvcc),
        "ptxas": "%s -m pip install %s" % (python, nvcc),
        "absl": "%s -m pip install absl-py" % python,
        "jax": "%s -m pip install -U jax" % python,
    }


def check_packages(needs_ptxas=True):
    """Raises Trouble where something is missing; returns the versions of jax and jaxlib."""
    jax, jaxlib = version("jax"), version("jaxlib")
    python = sys.executable or "python3"
    if jax is None or jaxlib is None:
        raise Trouble("this Python (%s) has no JAX" % python, "%s -m pip install jax, or --python PYTHON that has it" % python)
    lines = pip_lines(jax)
    if numbers_of(jax) < OLDEST:
        raise Trouble("JAX %s is too old: compiling for a GPU that is not there needs 0.5 or newer" % jax, lines["jax"])
    plugins = [m for m in ("12", "13") if version("jax-cuda%s-plugin" % m)]
    if not plugins or not version("jax-cuda%s-pjrt" % plugins[-1]):
        raise Trouble("JAX %s has no CUDA plugin in this Python (%s)" % (jax, python), lines["plugin"])
    if needs_ptxas and not find_ptxas():
        raise Trouble("there is no ptxas: XLA and Triton need it to make a GPU's machine code", lines["ptxas"])
    return jax, jaxlib


def find_ptxas():
    """Where ptxas is: NVIDIA's Python packages, a CUDA toolkit, or the PATH."""
    roots = [os.path.join(p, "nvidia", name) for p in sys.path for name in ("cuda_nvcc", "cu13")]
    roots += [os.environ[name] for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + ["/usr/local/cuda"]
    for root in roots:
        path = os.path.join(root, "bin", "ptxas")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("ptxas")


class Target:
    """One GPU, and the directory that its dumps go to."""

    def __init__(self, job):
        self.name, self.config, self.dump = job["target"], job["config"], job["dump"]
        self.mosaic = os.path.join(self.dump, "mosaic")
        os.makedirs(self.mosaic, exist_ok=True)
        prepare_environment()
        os.environ["MOSAIC_GPU_DUMP_TO"] = self.mosaic
        self.jax, self.jaxlib = check_packages(job.get("needs_ptxas", True))
        self.dropped = []      # fields that this JAX does not know
        self.placeholders = [] # FFI targets that nobody registered
        self.scratch = os.path.join(self.dump, ".try")  # a dump is moved out of it when it is whole
        self.options = {"xla_dump_to": self.scratch, "xla_dump_hlo_as_proto": True, "xla_dump_hlo_as_text": True,
                        "xla_dump_emitter_re": "ptx"}  # text: some files beside a module have no other form
        self.unknown = []      # options that this XLA does not know
        self.notes = []        # what was switched off for want of a card
        self._topologies, self._meshes = {}, {}
        major = re.search(r"cuda_compute_capability\s*{[^}]*?major:\s*(\d+)", self.config)
        if not major:
            raise Trouble("the target configuration of %s names no cuda_compute_capability" % self.name)
        minor = re.search(r"cuda_compute_capability\s*{[^}]*?minor:\s*(\d+)", self.config)
        self.capability = int(major.group(1)) * 10 + (int(minor.group(1)) if minor else 0)
        self.device = self.devices(1)[0]
        self._answer()

    # Topologies and meshes.

    def devices(self, count):
        """So many of the target's devices, for compilation only."""
        if count not in self._topologies:
            self._topologies[count] = self._topology(count)
        return self._topologies[count]

    def _topology(self, count):
        from jax.experimental import topologies

        while True:
            with captured_errors() as said:
                try:
                    return list(topologies.get_topology_desc(
                        platform="cuda", target_config=self.config, topology="1x1x%d" % count).devices)
                except NotImplementedError as error:
                    raise Trouble("JAX's CUDA plugin could not be loaded: %s" % error, pip_lines(self.jax)["plugin"])
                except Exception as error:
                    message = str(error)
            # Older releases say which field only on standard error.
            field = _UNKNOWN_FIELD.search(message + said.text)
            rest = drop_field(self.config, field.group(1)) if field else self.config
            if rest == self.config:
                raise Trouble("JAX %s does not take the target configuration of %s: %s" % (self.jax, self.name, first_line(message)))
            self.config = rest
            self.dropped.append(field.group(1))

    def mesh(self, shape, axes):
        """A mesh of the target's devices: a size and a name for each axis."""
        import jax
        import numpy

        key = (tuple(shape), tuple(axes))
        if key not in self._meshes:
            count = 1
            for size in shape:
                count *= size
            self._meshes[key] = jax.sharding.Mesh(numpy.array(self.devices(count)).reshape(shape), axes)
        return self._meshes[key]

    def whole(self, mesh=None):
        """The sharding of an array that every device has whole."""
        import jax

        mesh = mesh or self.mesh((1,), ("_",))
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    # What code asks the machine, and the target answers.

    def _answer(self):
        """For the whole process: questions about compute capability alone."""
        with contextlib.suppress(Exception):
            from jax._src import source_info_util

            for name in ("aliascheck_compile", "aliascheck_programs", "aliascheck_target", "aliascheck_absent"):
                path = getattr(sys.modules.get(name, sys.modules["__main__"]), "__file__", None)
                if path:
                    source_info_util.register_exclusion(path)  # stacks are the program's
        for module in ("jaxlib.gpu_triton", "jax._src.lib.gpu_triton"):  # jax-triton asks the driver
            with contextlib.suppress(Exception):
                __import__(module)
                sys.modules[module].get_compute_capability = lambda device=0: self.capability
        with contextlib.suppress(Exception):
            import jax.extend.backend

            jax.extend.backend.get_default_device = lambda: self.device  # Mosaic GPU
        with contextlib.suppress(Exception):
            from jax._src import compiler, xla_bridge
            from jax._src.interpreters import mlir

            # Calls of the host (jax.debug.print) want a client that they could call back
            # from; the CPU's has all that lowering asks for, and nothing ever calls.
            mlir.ModuleContext.get_backend = lambda *args, **keywords: xla_bridge.get_backend("cpu")
            for name in ("backend_compile_and_load", "backend_compile"):
                if hasattr(compiler, name):
                    setattr(compiler, name, _without_callbacks(getattr(compiler, name)))
        with contextlib.suppress(Exception):
            from jax._src.pallas.triton import gpu_info

            gpu_info.pxla = _Answering(gpu_info.pxla, get_default_device=lambda: self.device)

    @contextlib.contextmanager
    def answering(self):
        """While programs are made, traced and compiled: code that looks at the backend to
        choose a kernel sees a GPU's."""
        import jax

        before = jax.default_backend
        jax.default_backend = lambda: "gpu"
        try:
            yield
        finally:
            jax.default_backend = before

    # Compilation.

    def compile(self, program):
        """Compiles a program: the numbers of its modules, the placeholders that it needed,
        and what this XLA had to do without. Tries that failed leave no dump."""
        new = []
        shutil.rmtree(self.scratch, ignore_errors=True)
        lowered = program.lower(self)
        while True:
            try:
                lowered(dict(self.options))
                return self._keep(), new, self.unknown + self.notes
            except Exception as error:
                message = str(error)
                option = _UNKNOWN_OPTION.search(message)
                missing = _UNREGISTERED.search(message)
                around = next((w for w in _WITHOUT_A_CARD if w[0] in message and w[1] not in self.options), None)
                if around and not self.unknown.count(around[1]):
                    self.options[around[1]] = around[2]
                    self.notes.append(around[3])
                elif option and self.options.pop(option.group(1), None) is not None:
                    self.unknown.append(option.group(1))
                elif missing and missing.group(1) not in self.placeholders:
                    self._placeholder(missing.group(1))
                    new.append(missing.group(1))
                else:
                    raise
                shutil.rmtree(self.scratch, ignore_errors=True)

    def _keep(self):
        """Moves a dump to its place: the numbers of its modules."""
        numbers = set()
        for name in sorted(os.listdir(self.scratch)) if os.path.isdir(self.scratch) else ():
            os.replace(os.path.join(self.scratch, name), os.path.join(self.dump, name))
            match = _MODULE.match(name)
            if match and name.endswith("after_optimizations.hlo.pb"):
                numbers.add(int(match.group(1)))
        return sorted(numbers)

    def _placeholder(self, name):
        """Registers a handler for a name that nobody registered. Nothing runs it: XLA asks
        it for its version and traits alone, which LAPACK's answers as well as any."""
        import jax
        from jaxlib import lapack

        for entry in lapack.registrations()["cpu"]:
            if entry[0].endswith("_ffi"):
                register = getattr(jax, "ffi", None) or __import__("jax.extend.ffi", fromlist=["ffi"])
                register.register_ffi_target(name, entry[1], platform="CUDA")
                self.placeholders.append(name)
                return
        raise Trouble("no placeholder could be made for the FFI target %s" % name)


class _Answering:
    """A module with some of its names answered otherwise."""

    def __init__(self, module, **answers):
        self._module = module
        self.__dict__.update(answers)

    def __getattr__(self, name):
        return getattr(self._module, name)


def _without_callbacks(compile):
    """JAX's call of a client's compile, for a client of an absent card: it takes no calls of
    the host, which are the last argument."""
    def call(backend, *args):
        if "CompileOnly" in type(backend).__name__:
            args = args[:-1] + ([],)
        return compile(backend, *args)

    return call


class captured_errors:
    """Keeps what is written to standard error, by C++ as well, and passes it on."""

    def __enter__(self):
        sys.stderr.flush()
        self.text, self._file, self._saved = "", tempfile.TemporaryFile(), os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *exc):
        sys.stderr.flush()
        os.dup2(self._saved, 2)
        os.close(self._saved)
        self._file.seek(0)
        text = self._file.read()
        self._file.close()
        os.write(2, text)
        self.text = text.decode("utf-8", "replace")


def drop_field(config, name):
    """Takes a field out of a text proto, everywhere: `name: value` and `name { ... }`."""
    out, at = [], 0
    for match in re.finditer(r"^[ \t]*%s\s*(:|{)" % re.escape(name), config, re.MULTILINE):
        if match.start() < at:
            continue
        out.append(config[at:match.start()])
        if match.group(1) == ":":
            at = config.find("\n", match.end()) + 1 or len(config)
            continue
        depth, at = 1, match.end()
        while depth and at < len(config):
            depth += {"{": 1, "}": -1}.get(config[at], 0)
            at += 1
    return "".join(out) + config[at:]


def first_line(text):
    return (text.strip().splitlines() or [""])[0][:500]


def explain(error, target=None):
    """An error as a sentence, and how to mend it where that is known."""
    if isinstance(error, Trouble):
        return str(error), error.mend
    if isinstance(error, SyntaxError):
        return "SyntaxError: %s" % error.msg, ""
    text = first_line(str(error))
    if target and target.capability < 90 and "Pass pipeline failed" in text:
        return ("%s (sm_%d) refuses it: Mosaic GPU needs compute capability 9.0 or more" % (target.name, target.capability),
                "leave %s out of its targets" % target.name)
    if isinstance(error, ModuleNotFoundError) and error.name == "absl":
        return "Mosaic GPU needs absl-py, which is not installed", pip_lines(version("jax"))["absl"]
    if isinstance(error, ModuleNotFoundError) and error.name:
        return "%s: %s" % (type(error).__name__, text), "install what has the module %s, or --python PYTHON that has it" % error.name
    if isinstance(error, SystemExit):
        return "it ended Python (exit code %s)" % error.code, ""
    name = type(error).__name__
    return "%s: %s" % (name, text) if text else name, ""
