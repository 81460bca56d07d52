"""Runs large modules when the job first uses one of their attributes, or never.

Only the modules named below, and only for `import NAME`: `from NAME import x` runs the module at
once.
"""
import importlib.util
import sys

_LARGE = (
    "matplotlib",
    "matplotlib.pyplot",
    "pandas",
    "scipy",
    "scipy.stats",
    "sklearn",
    "seaborn",
    "sympy",
    "tensorboard",
    "torchvision",
    "transformers",
    "cv2",
    "networkx",
    "numba",
    "plotly",
    "IPython",
    "pkg_resources",
)


class _Finder:
    def __init__(self, kit):
        self.kit = kit
        self.busy = False

    def find_spec(self, name, path=None, target=None):
        if name not in _LARGE or self.busy or not _by_the_job():
            return None
        self.busy = True
        try:
            spec = importlib.util.find_spec(name)
        except Exception:
            return None
        finally:
            self.busy = False
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        self.kit.engaged(name)
        spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def _by_the_job():
    """Whether a line of the job's own imports it; libraries rely on what their imports do."""
    frame = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None:
        return False
    import _amdahl_fixes

    return not _amdahl_fixes._is_library(frame.f_code.co_filename)


def install(kit, value):
    sys.meta_path.insert(0, _Finder(kit))
