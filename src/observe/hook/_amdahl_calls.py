"""Calls of a job that a fix of playbook/inject/ could spare it: how many there are, and their time."""
import functools
import os
import sys

# What reads a whole file and turns it into values, by module.
READERS = {
    "numpy": ("load", "loadtxt", "genfromtxt", "fromfile"),
    "torch": ("load",),
    "pandas": ("read_csv", "read_table", "read_json", "read_parquet", "read_pickle", "read_excel"),
}
# What turns text into values.
PARSERS = {"json": ("loads",), "yaml": ("load", "safe_load", "full_load")}
MODULES = set(READERS) | set(PARSERS)
_MOST = 100_000  # Texts and files that are remembered.
_LABELS = ("memmap", "reread", "arrays", "eval_grad", "anomaly")


def rows(totals):
    report = {}
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
        _repeated(module, reader, hook, _mark_of_file)
    for parser in PARSERS.get(name, ()):
        _repeated(module, parser, hook, _mark_of_text)
    if name == "torch":
        _arrays(module, hook)
        _evals(module, hook)


def _without_ours(shown):
    """A crash looks as it does without us: the lines of this file are not of the job."""

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


def _repeated(module, name, hook, mark_of):
    """Times calls for what was read or parsed before and is still the same."""
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
        return original(*args, **kwargs)

    setattr(module, name, read)


def _arrays(torch, hook):
    """Tensors that are made of lists of arrays, number by number."""
    original = torch.tensor

    @functools.wraps(original)
    def tensor(data, *args, **kwargs):
        if isinstance(data, (list, tuple)) and data and type(data[0]).__name__ == "ndarray":
            return hook.timed("arrays", original, data, *args, **kwargs)
        return original(data, *args, **kwargs)

    stand_in(torch, "tensor", tensor)


def stand_in(torch, name, function):
    """Puts a function in the place of torch's own, which torch's compiler then takes for it."""
    from torch.jit import _builtins

    _builtins._register_builtin(function, "aten::" + name)
    setattr(torch, name, function)


def _evals(torch, hook):
    """Passes in evaluation mode that record gradients, and whether torch looks for NaN."""
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
