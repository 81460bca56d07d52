"""Counts and times calls of a job that a fix of playbook/inject/ could avoid."""
import functools
import os
import sys
import weakref

# Functions that read and parse a whole file, by module.
READERS = {
    "numpy": ("load", "loadtxt", "genfromtxt", "fromfile"),
    "torch": ("load",),
    "pandas": ("read_csv", "read_table", "read_json", "read_parquet", "read_pickle", "read_excel"),
}
# Functions that parse text.
PARSERS = {"json": ("loads",), "yaml": ("load", "safe_load", "full_load")}
# Those that take long for what is in the file, because it is text.
TEXT_READERS = {
    "numpy": ("loadtxt", "genfromtxt"),
    "pandas": ("read_csv", "read_table", "read_json", "read_excel"),
}
SMALL = 65536  # Bytes: what is parsed sooner than looked up.
# Modules whose SummaryWriter makes events for TensorBoard.
BOARDS = ("torch.utils.tensorboard.writer", "tensorboardX.writer")
MODULES = set(READERS) | set(PARSERS) | set(BOARDS)
_MOST = 100_000  # Texts and files that are remembered.
_LABELS = ("memmap", "reread", "parse", "arrays", "eval_grad", "anomaly", "rescalar", "boards")


_CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


def rows(totals):
    report = {}
    if _CPUS and len(os.sched_getaffinity(os.getpid())) < _CPUS:
        report["bound_cpus"] = len(os.sched_getaffinity(os.getpid()))
    for label in _LABELS:
        seconds, calls = totals.get(label, (0.0, 0))
        report[label + "_s"] = round(seconds, 6)
        report[label + "_calls"] = calls
    return report


def watch(hook, name):
    module = sys.modules[name]
    if not getattr(sys.excepthook, "hides_calls", False):
        sys.excepthook = _without_ours(sys.excepthook)
    for reader in READERS.get(name, ()):
        is_text = reader in TEXT_READERS.get(name, ())
        _repeated(module, reader, hook, _mark_of_file, is_text)
    for parser in PARSERS.get(name, ()):
        _repeated(module, parser, hook, _mark_of_text, True)
    if name == "torch":
        _arrays(module, hook)
        _evals(module, hook)
        _scalars(module, hook)
    if name in BOARDS:
        for method in board_methods(module.SummaryWriter):
            _timed(module.SummaryWriter, method, hook, "boards")


def board_methods(writer):
    return [name for name in dir(writer) if name.startswith("add_")]


def _timed(owner, name, hook, label):
    original = getattr(owner, name)

    @functools.wraps(original)
    def timed(*args, **kwargs):
        return hook.timed(label, original, *args, **kwargs)

    setattr(owner, name, timed)


def _scalars(torch, hook):
    """Numbers fetched again of a result that has not changed since."""
    last = {}  # How it is fetched: the tensor and its version.

    def watch_one(name):
        original = getattr(torch.Tensor, name)

        @functools.wraps(original)
        def fetched(self):
            if self.grad_fn is None:
                return original(self)
            known = last.get(name)
            if known is not None and known[0]() is self and known[1] == self._version:
                return hook.timed("rescalar", original, self)
            last[name] = (weakref.ref(self), self._version)
            return original(self)

        setattr(torch.Tensor, name, fetched)

    for name in ("item", "__float__"):
        watch_one(name)


def _without_ours(shown):
    """Removes the lines of this file from tracebacks: a crash looks as it does without the hook."""

    def crash(kind, error, trace):
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        at = trace
        while at is not None and at.tb_next is not None:
            if at.tb_next.tb_frame.f_code.co_filename == __file__:
                at.tb_next = at.tb_next.tb_next
            else:
                at = at.tb_next
        shown(kind, error.with_traceback(trace), trace)

    crash.hides_calls = True
    return crash


def _mark_of_file(file):
    info = os.stat(file)
    return os.fspath(file), info.st_size, info.st_mtime_ns


def _mark_of_text(text):
    return (hash(text), len(text)) if isinstance(text, (str, bytes)) else None


def _repeated(module, name, hook, mark_of, is_text):
    """Times calls for what was read or parsed before and is still the same; and the first, of text."""
    original = getattr(module, name, None)
    if original is None:
        return
    seen = set()

    @functools.wraps(original)
    def read(*args, **kwargs):
        try:
            mark = (mark_of(args[0]), repr(args[1:]), repr(kwargs))
        except Exception:
            mark = None
        if mark is None or mark[0] is None:
            return original(*args, **kwargs)
        if mark in seen:
            return hook.timed("reread", original, *args, **kwargs)
        if len(seen) < _MOST:
            seen.add(mark)
        if is_text and mark[0][1] >= SMALL:
            return hook.timed("parse", original, *args, **kwargs)
        return original(*args, **kwargs)

    setattr(module, name, read)


def _arrays(torch, hook):
    """Tensors made from lists of arrays, number by number."""
    original = torch.tensor

    @functools.wraps(original)
    def tensor(data, *args, **kwargs):
        if isinstance(data, (list, tuple)) and data and type(data[0]).__name__ == "ndarray":
            return hook.timed("arrays", original, data, *args, **kwargs)
        return original(data, *args, **kwargs)

    stand_in(torch, "tensor", tensor)


def stand_in(torch, name, function):
    """Replaces a function of torch so that torch's compiler still recognises it."""
    from torch.jit import _builtins

    _builtins._register_builtin(function, "aten::" + name)
    setattr(torch, name, function)


def _evals(torch, hook):
    """Forward passes in evaluation mode that record gradients, and whether anomaly detection is on."""
    call = torch.nn.Module.__call__

    @functools.wraps(call)
    def timed(self, *args, **kwargs):
        if self.training or not torch.is_grad_enabled():
            return call(self, *args, **kwargs)
        return hook.timed("eval_grad", call, self, *args, **kwargs)

    torch.nn.Module.__call__ = timed
    switch = torch.set_anomaly_enabled

    @functools.wraps(switch)
    def counted(enabled, *args, **kwargs):
        if enabled:
            hook.totals.setdefault("anomaly", [0.0, 0])[1] += 1
        return switch(enabled, *args, **kwargs)

    torch.set_anomaly_enabled = counted
