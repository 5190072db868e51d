"""Gives this process a dump directory of its own.

`aliascheck run` sets ALIASCHECK_DUMPS to a directory and XLA_FLAGS to the flags
that dump below it. XLA numbers modules from 0 in every process, so processes that
share a directory overwrite each other's files: each Python process therefore
replaces the directory in XLA_FLAGS by its own before XLA reads them.
"""

import json
import os
import sys

_PARENT = "ALIASCHECK_DUMPS"
_RANKS = ("PYTEST_XDIST_WORKER", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
          "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "RANK")

_claim = (None, None)  # process id, directory


def directory():
    """The directory of this process, or None outside `aliascheck run`.

    XLA makes it with the first module. The name holds who the process is among
    its like (worker or rank), its id, and random digits: ids repeat on other hosts.
    """
    global _claim
    parent = os.environ.get(_PARENT)
    if not parent:
        return None
    if _claim[0] != os.getpid():
        name = "%s-%d-%s" % (_label(), os.getpid(), os.urandom(4).hex())
        _claim = (os.getpid(), os.path.join(parent, name))
    return _claim[1]


def _label():
    for name in _RANKS:
        value = os.environ.get(name, "")
        if value and all(c.isalnum() or c in "-_" for c in value):
            return value if name == "PYTEST_XDIST_WORKER" else "rank" + value
    return "process"


def restore():
    """Puts this process's dump flags last in XLA_FLAGS, where they win.

    Harmless once XLA has read them; and it mends XLA_FLAGS where the program has
    overwritten them with its own.
    """
    mine = directory()
    if not mine or os.environ.get("ALIASCHECK_TARGET"):
        return  # what is compiled for an absent GPU says itself where its dump goes
    flags = os.environ.get("XLA_FLAGS", "").strip()
    wanted = "--xla_dump_to=%s --xla_dump_hlo_as_proto" % _quoted(mine)
    if _knows_emitters():
        wanted += " --xla_dump_emitter_re=ptx"
        _claim_mosaic(mine)
    if flags and not flags.startswith("-"):
        flags = _contents(flags)
    if not flags.endswith(wanted):
        os.environ["XLA_FLAGS"] = (flags + " " + wanted).strip()


_PLUGINS = ("jax-cuda12-plugin", "jax-cuda13-plugin")

_knows = None


def _installed(name):
    from importlib import metadata
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _knows_emitters():
    """Whether XLA of the installed jaxlib can dump the PTX of the kernels it compiles.

    A flag that XLA does not know ends the process. jaxlib 0.9.0 knows this one,
    0.8.0 does not. Without a plugin for GPUs it has no PTX to dump.
    """
    global _knows
    if _knows is None:
        try:
            from importlib import metadata
            version = metadata.version("jaxlib").split(".")
            _knows = (int(version[0]), int(version[1])) >= (0, 9) and any(_installed(n) for n in _PLUGINS)
        except Exception:
            _knows = False  # none installed, or none that says so
    return _knows


def _claim_mosaic(mine):
    """Gives Mosaic GPU a folder: it numbers kernels by process, and makes none itself."""
    folder = os.path.join(mine, "mosaic")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return
    os.environ["MOSAIC_GPU_DUMP_TO"] = folder


def record_parent_test():
    """Notes which test started this process, where pytest runs in another one."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if not test or "pytest" in sys.modules or not directory():
        return
    line = json.dumps({"event": "process", "test": test.rsplit(" (", 1)[0]})
    try:
        with open(directory() + ".tests.jsonl", "a") as f:
            f.write(line + "\n")
    except OSError:
        pass


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def _contents(path):
    try:
        with open(path) as f:
            return f.read(1 << 20).strip()
    except OSError:
        return path


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=restore)
