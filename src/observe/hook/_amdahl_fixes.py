"""Applies the requested fixes of playbook/inject/ and records what they did.

A fix is a module with `install(kit, value)`. Nothing it does may break the job: what raises while
it installs is a refusal, and the job runs as it is.
"""
import importlib.util
import os
import sys

_PLACES = 5
# The originals, before a fix replaces them.
_open, _replace, _makedirs = open, os.replace, os.makedirs


class Kit:
    """The interface for one fix."""

    def __init__(self, record, fix):
        self._record = record
        self._fix = fix

    def engaged(self, what="", times=1):
        """Records that the fix acted: `what`, for people, with the job's line that led to it."""
        self._record.count(self._fix, what, times)

    def refuse(self, why):
        """Records that the fix did not act: results could change, or there is nothing to gain."""
        self._record.refuse(self._fix, why)

    def when_imported(self, module, function):
        """Calls function(module) once the module is imported, now or later."""
        self._record.imports.wait_for(module, self._guarded(function))

    def at_exit(self, function):
        """Calls it before the process ends: normally, by an exception, or by os._exit."""
        self._record.endings.append(self._guarded(function))

    def before_fork(self, function):
        os.register_at_fork(before=self._guarded(function))

    def _guarded(self, function):
        def guarded(*args):
            try:
                return function(*args)
            except Exception as error:
                self.refuse("%s: %s" % (type(error).__name__, error))

        return guarded

    @staticmethod
    def caller():
        """The current line of the job, as "train.py:41"."""
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if not _is_library(name):
                return "%s:%d" % (os.path.basename(name), frame.f_lineno)
            frame = frame.f_back
        return ""


class _Record:
    """State of one process; a forked child has its own."""

    def __init__(self, out):
        self.out = out
        self.rows = {}
        self.cost = 0.0  # Seconds that it took to install the fixes; a forked child has paid none.
        self.endings = []
        self.imports = _Imports()
        self.pid = os.getpid()
        if out:
            _makedirs(out, exist_ok=True)
        os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self):
        self.pid = os.getpid()
        self.cost = 0.0
        self.rows = {fix: {"times": 0, "where": [], "refused": ""} for fix in self.rows}

    def row(self, fix):
        return self.rows.setdefault(fix, {"times": 0, "where": [], "refused": ""})

    def count(self, fix, what, times):
        row = self.row(fix)
        before = row["times"]
        row["times"] += times
        if what and what not in row["where"] and len(row["where"]) < _PLACES:
            row["where"].append(what)
        # Workers are often killed: writes after 1, 2, 4, 8 ... actions.
        if before.bit_length() != row["times"].bit_length():
            self.write()

    def refuse(self, fix, why):
        self.row(fix)["refused"] = why
        self.write()

    def write(self):
        import json

        if not self.out:
            return
        try:
            path = os.path.join(self.out, "%d.json" % os.getpid())
            beside = path + ".new"
            with _open(beside, "w", encoding="utf-8") as file:
                json.dump({**self.rows, "cost_s": round(self.cost, 6)}, file)
            _replace(beside, path)
        except OSError:
            pass

    def end(self):
        if os.getpid() != self.pid:
            return
        endings, self.endings = self.endings, []
        for ending in endings:
            ending()
        self.write()


class _Imports:
    """Finds modules as usual, and notifies whoever waits for one after it has run."""

    def __init__(self):
        self.waiting = {}

    def wait_for(self, name, function):
        if name in sys.modules:
            function(sys.modules[name])
            return
        if not self.waiting and self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self.waiting.setdefault(name, []).append(function)

    def find_spec(self, name, path=None, target=None):
        if name not in self.waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                break
        else:
            return None
        if spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        functions = self.waiting.pop(name)
        spec.loader = _Telling(spec.loader, functions)
        return spec


class _Telling:
    """The module's own loader, with a callback after it has run."""

    def __init__(self, loader, functions):
        self._loader = loader
        self._functions = functions

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        module.__loader__ = module.__spec__.loader = self._loader
        for function in self._functions:
            function(module)


# Where Python and we are; asking sysconfig would take longer than all else here.
_LIBRARIES = tuple(os.path.join(os.path.dirname(os.path.abspath(file)), "")
                   for file in (os.__file__, __file__))


def _is_library(name):
    return (
        name.startswith("<") or "-packages" in name or os.path.abspath(name).startswith(_LIBRARIES)
    )


def _path(fix):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixes", fix, "fix.py")


def _load(fix):
    name = "_amdahl_fix_" + fix.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, _path(fix))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _watch_ends(record):
    import atexit
    import functools

    atexit.register(record.end)
    leave = os._exit

    @functools.wraps(leave)
    def last(*args, **kwargs):
        record.end()
        return leave(*args, **kwargs)

    os._exit = last


def from_environment(began):
    """Never raises: on failure the job runs unchanged. `began` is when our first line ran."""
    try:
        _install(os.environ["AMDAHL_FIXES"], os.environ.get("AMDAHL_FIXES_OUT", ""), began)
    except Exception:
        pass


def _install(fixes, out, began):
    import json
    import time

    record = _Record(out)
    _watch_ends(record)
    for fix, value in sorted(json.loads(fixes).items()):
        if not os.path.exists(_path(fix)):
            continue  # For compiled programs, in the preload library.
        kit = Kit(record, fix)
        record.row(fix)
        try:
            _load(fix).install(kit, value)
        except Exception as error:
            kit.refuse("%s: %s" % (type(error).__name__, error))
    record.cost = time.perf_counter() - began
    record.write()
