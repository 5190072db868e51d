"""Python imports this file when it starts under `aliascheck run`.

It waits for the import of a library that brings XLA, and then gives the process a
dump directory of its own (see aliascheck_run). A sitecustomize module that this one
hides is run as if this one were not there.
"""

import os
import sys


class _BeforeXLA:
    """A finder that finds nothing: it sees the import of XLA's libraries coming."""

    def find_spec(self, name, path=None, target=None):
        if name in ("jaxlib", "tensorflow", "torch_xla"):
            import aliascheck_run

            aliascheck_run.restore()
            aliascheck_run.record_parent_test()
        elif name == "jaxlib.xla_client":
            import aliascheck_targets

            return aliascheck_targets.watched(name, path)
        elif name == "jax" and os.environ.get("ALIASCHECK_TARGET"):
            import aliascheck_absent

            return aliascheck_absent.watched(name, path)
        return None


def _run_hidden_sitecustomize():
    here = os.path.dirname(os.path.abspath(__file__))
    path, mine = list(sys.path), sys.modules.pop("sitecustomize", None)
    sys.path[:] = [p for p in path if os.path.abspath(p or ".") != here]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        added = [p for p in sys.path if p not in path]
        sys.path[:] = added + path
        if mine is not None:
            sys.modules.setdefault("sitecustomize", mine)


if os.environ.get("ALIASCHECK_DUMPS"):
    sys.meta_path.insert(0, _BeforeXLA())
_run_hidden_sitecustomize()
