"""Notes which module registered each custom-call target, so that a replay in another
process knows what to import.

One JSON object a line, in a file beside the process's dump directory
(aliascheck_run.directory() + ".targets.jsonl"):

    {"target": NAME, "platform": PLATFORM, "module": MODULE, "file": FILE}

MODULE is the innermost one outside of JAX that asked for it. JAX's own targets need no
import and are not noted.
"""

import importlib.machinery
import json
import sys

import aliascheck_run

MODULE = "jaxlib.xla_client"
_OWN = ("jax.", "jaxlib.", "jax_plugins.", "aliascheck_")
_MOST = 10000  # lines


class _Loader:
    """Loads a module as its own loader does, and then watches it."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        register = getattr(module, "register_custom_call_target", None)
        if register is not None:
            module.register_custom_call_target = _watching(register)


def watched(name, path):
    """The module's spec, with a loader that watches what it registers."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _Loader(spec.loader)
    return spec


def _watching(register):
    noted = set()

    def register_custom_call_target(name, fn, platform="cpu", *args, **kwargs):
        try:
            _note(noted, name, platform, sys._getframe(1))
        except Exception:
            pass  # a note that cannot be written must not stop the program
        return register(name, fn, platform, *args, **kwargs)

    return register_custom_call_target


def _note(noted, name, platform, frame):
    while frame is not None and (frame.f_globals.get("__name__", "") + ".").startswith(_OWN):
        frame = frame.f_back
    if frame is None or len(noted) >= _MOST:
        return
    line = {
        "target": name.decode() if isinstance(name, bytes) else str(name), "platform": str(platform),
        "module": frame.f_globals.get("__name__", ""), "file": frame.f_globals.get("__file__", ""),
    }
    if line["module"].startswith(("importlib", "_frozen_importlib")) or (line["target"], line["platform"]) in noted:
        return
    noted.add((line["target"], line["platform"]))
    with open(aliascheck_run.directory() + ".targets.jsonl", "ab", buffering=0) as f:
        f.write(json.dumps(line).encode() + b"\n")
