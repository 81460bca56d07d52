"""Wraps functions of Python and torch to observe the job."""
import os
import sys

import _amdahl_calls as _calls
import _amdahl_lines as _lines


def patch(owner, name, hook, label):
    """Replaces a function by a timed version."""
    import functools

    original = getattr(owner, name)

    @functools.wraps(original)
    def timed(*args, **kwargs):
        return hook.timed(label, original, *args, **kwargs)

    setattr(owner, name, timed)


def exits(hook, finish):
    """os._exit() ends a process without exit handlers; multi-process jobs use it."""
    import functools

    original = os._exit

    @functools.wraps(original)
    def last(*args, **kwargs):
        finish()
        return original(*args, **kwargs)

    os._exit = last


def _watch_loader(hook):
    import functools

    import torch.utils.data.dataloader as dataloader

    base = dataloader._BaseDataLoaderIter
    original = base.__next__

    @functools.wraps(original)
    def watched(self):
        if not hook.mine() or hook.depth.get("next"):
            return original(self)
        hook.depth["next"] = 1
        try:
            try:
                hook.before_next()
            except Exception:
                pass
            began = hook.clock()
            batch = original(self)
            try:
                hook.after_next(began, self)
            except Exception:
                pass
            return batch
        finally:
            hook.depth["next"] = 0

    base.__next__ = watched


def _yield_to_own_profiler(torch, hook):
    """The job's own profiler takes precedence: two at once are an error."""
    import functools

    profile = torch.autograd.profiler.profile
    init = profile.__init__

    @functools.wraps(init)
    def yielding(self, *args, **kwargs):
        if not hook.depth.get("window"):
            hook.own_profiler = True
            try:
                hook.close_window()
            except Exception:
                pass
        return init(self, *args, **kwargs)

    profile.__init__ = yielding


class Forwards:
    """Steps of a job without a loader: calls of the outermost module, the one called first.

    Hooks of the module itself would be saved and compiled with it. So its class gets a __call__,
    which nothing saves, and which goes when torch's compiler comes.
    """

    def __init__(self, torch, hook):
        from torch.nn.modules.module import register_module_forward_pre_hook

        self.base = torch.nn.Module
        self.hook = hook
        self.kind = None  # The class that has our __call__.
        self.handle = register_module_forward_pre_hook(self.first)

    def leave(self):
        handle, self.handle = self.handle, None
        if handle is not None:
            handle.remove()
        kind, self.kind = self.kind, None
        if kind is not None:
            del kind.__call__

    def first(self, module, inputs):
        if self.handle is None or not self.hook.follow():
            return
        try:
            handle, self.handle = self.handle, None
            handle.remove()
            kind = type(module)
            if self.hook.steps or kind is self.base or "__call__" in vars(kind):
                return
            self.hook.before_forward()
            self.take(kind, module)
        except Exception:
            pass

    def take(self, kind, module):
        import weakref

        root = weakref.ref(module)
        hook = self.hook

        def __call__(self, *args, **kwargs):
            if self is root() and not hook.depth.get("forward") and hook.follow():
                hook.depth["forward"] = 1
                try:
                    hook.before_forward()
                except Exception:
                    pass
                try:
                    return super(kind, self).__call__(*args, **kwargs)
                finally:
                    hook.depth["forward"] = 0
            return super(kind, self).__call__(*args, **kwargs)

        kind.__call__ = __call__
        self.kind = kind


def _torch(hook):
    torch = sys.modules["torch"]
    patch(torch, "save", hook, "save")
    patch(torch.autograd, "backward", hook, "backward")
    _watch_loader(hook)
    _watch_makers(hook)
    _yield_to_own_profiler(torch, hook)
    hook.forwards = Forwards(torch, hook)
    hook.at_torch()


def _watch_makers(hook):
    """The lines of the job that create its loaders."""
    import functools

    import torch.utils.data.dataloader as dataloader

    original = dataloader.DataLoader.__init__
    roots = _lines.libraries()

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        try:
            frame = sys._getframe(1)
            while frame is not None and _lines.is_library(frame.f_code.co_filename, roots):
                frame = frame.f_back
            if frame is not None and hook.mine():
                code = frame.f_code
                hook.makers.add((os.path.abspath(code.co_filename), frame.f_lineno, code.co_name))
        except Exception:
            pass
        return original(self, *args, **kwargs)

    dataloader.DataLoader.__init__ = init


def _memmaps(kind, hook):
    """Counts file mappings."""
    original = kind.__new__

    def new(*args, **kwargs):
        return hook.timed("memmap", original, *args, **kwargs)

    kind.__new__ = staticmethod(new)


def _imported(hook, name, seconds):
    """Called after the first import of a module, in any thread."""
    if os.getpid() != hook.pid:
        return
    try:
        if name in _calls.MODULES:
            _calls.watch(hook, name)
    except Exception:
        pass
    try:
        if name == "torch" and hasattr(sys.modules.get("torch"), "save"):
            hook.torch_import = round(seconds, 6)
            _torch(hook)
        elif name == "torch._dynamo" and hook.forwards is not None:
            hook.forwards.leave()
            hook.forwards = None
        elif name == "numpy":
            _memmaps(sys.modules[name].memmap, hook)
        elif name == "PIL.ImageFile":
            patch(sys.modules[name].ImageFile, "load", hook, "decode")
    except Exception:
        pass


def _installed():
    """Whether an imported module is part of Python or installed; true if unknown."""
    roots = _lines.libraries()

    def is_installed(name):
        try:  # Not by name: a module that loads itself when it is asked would.
            file = object.__getattribute__(sys.modules[name], "__dict__").get("__file__")
            return not file or _lines.is_library(file, roots)
        except Exception:
            return True

    return is_installed


# Compiled under the name of Python's own import code, whose frames tracebacks omit.
_IMPORT = """
def _call_with_frames_removed(name, import_):
    began = hook.clock()
    mine = hook.mine()
    outermost = mine and not hook.depth.get("import")
    if outermost:
        hook.depth["import"] = 1
    if mine:
        around, hook.nested = hook.nested, 0.0
    try:
        return original(name, import_)
    finally:
        if mine:
            took = hook.clock() - began
            if is_installed(name):
                total = hook.totals.setdefault("installed", [0.0, 0])
                total[0] += took - hook.nested
            hook.nested = around + took
        if outermost:
            hook.depth["import"] = 0
            total = hook.totals.setdefault("import", [0.0, 0])
            total[0] += hook.clock() - began
            total[1] += 1
            hook.imports[name] = hook.imports.get(name, 0.0) + hook.clock() - began
        if name in interesting:
            imported(hook, name, hook.clock() - began)
"""


def imports(hook):
    import importlib._bootstrap as bootstrap

    scope = {
        "hook": hook,
        "original": bootstrap._find_and_load,
        "imported": _imported,
        "is_installed": _installed(),
        "interesting": {"torch", "torch._dynamo", "numpy", "PIL.ImageFile"} | _calls.MODULES,
    }
    exec(compile(_IMPORT, "<frozen importlib._bootstrap>", "exec"), scope)
    bootstrap._find_and_load = scope["_call_with_frames_removed"]


def collector(hook):
    import gc

    began = [0.0]

    def note(phase, info):
        if os.getpid() != hook.pid:
            return
        if phase == "start":
            began[0] = hook.clock()
        elif began[0]:
            total = hook.totals.setdefault("gc", [0.0, 0])
            total[0] += hook.clock() - began[0]
            total[1] += 1

    gc.callbacks.append(note)
