"""Applies the fixes of a run, and observes it, from the first line of each of its Python processes.

Python imports a module of this name at start-up. What only observes is imported only where it is
asked for: a fix must not pay for it.
"""
import os
import sys
import time

_began = time.perf_counter()


def _shadowed():
    """Imports the sitecustomize that ours shadows."""
    from importlib.machinery import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    return PathFinder.find_spec("sitecustomize", sys.path)


try:
    if os.environ.get("AMDAHL_FIXES"):
        import _amdahl_fixes

        _amdahl_fixes.from_environment(_began)
    if os.environ.get("AMDAHL_HOOK_OUT"):
        import _amdahl_hook

        _amdahl_hook.install(os.environ["AMDAHL_HOOK_OUT"])
except Exception:
    pass
try:
    _spec = _shadowed()
except Exception:
    _spec = None
if _spec is not None and _spec.loader is not None:
    from importlib.util import module_from_spec as _make

    _ours = sys.modules.get("sitecustomize")
    sys.modules["_amdahl_site"] = _ours  # Keeps what it defined alive.
    sys.modules["sitecustomize"] = _module = _make(_spec)
    _spec.loader.exec_module(_module)  # Its errors are the host's: Python reports them as ever.
