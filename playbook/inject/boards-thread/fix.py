"""TensorBoard's writers make and write their events in a thread, in the order of the calls.

Arguments are copied first, so that the job may go on to change them. flush() and close() wait for
the thread; so does whatever needs an argument that cannot be copied, a fork, and the end.
"""
import copy
import functools
import inspect
import os
import queue
import threading
import time

import _amdahl_calls as calls

_MOST = 256  # Calls that wait: what they hold takes memory.


def install(kit, value):
    thread = _Thread()
    for module in calls.BOARDS:
        kit.when_imported(module, functools.partial(_patch, kit, thread))
    kit.before_fork(thread.wait)
    kit.at_exit(thread.end)
    os.register_at_fork(after_in_child=thread.forget)


class _Thread:
    def __init__(self):
        self.failed = None
        self.forget()

    def forget(self):
        self.queue = queue.Queue(_MOST)
        self.thread = None

    def put(self, call):
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="amdahl boards", daemon=True)
            self.thread.start()
        self.queue.put(call)

    def is_ours(self):
        return threading.current_thread() is self.thread

    def wait(self):
        if self.thread is not None and not self.is_ours():
            self.queue.join()
        failed, self.failed = self.failed, None
        if failed is not None:
            raise failed

    def end(self):
        """Without the thread, which holds the last writer, Python closes its files as ever."""
        if self.thread is not None:
            self.queue.put(None)
            self.thread.join()
        self.wait()

    def _run(self):
        for call in iter(self.queue.get, None):
            try:
                call()
            except BaseException as error:
                self.failed = self.failed or error
            self.queue.task_done()
        self.queue.task_done()


def _patch(kit, thread, module):
    kind = module.SummaryWriter
    for name in calls.board_methods(kind):
        if name in ("add_graph", "add_figure"):  # They look at objects of the job.
            _wait_before(thread, kind, name)
        else:
            _later(kit, thread, kind, name)
    for name in ("flush", "close"):
        _wait_before(thread, kind, name)


def _wait_before(thread, kind, name):
    original = getattr(kind, name)

    @functools.wraps(original)
    def waiting(*args, **kwargs):
        thread.wait()
        return original(*args, **kwargs)

    setattr(kind, name, waiting)


def _later(kit, thread, kind, name):
    original = getattr(kind, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def later(self, *args, **kwargs):
        if thread.is_ours():  # One method of the writer calls another.
            return original(self, *args, **kwargs)
        if thread.failed is not None:
            thread.wait()
        try:
            bound = signature.bind(self, *args, **kwargs)
            if "walltime" in signature.parameters and bound.arguments.get("walltime") is None:
                bound.arguments["walltime"] = time.time()
            held = {key: value if value is self else _copied(value)
                    for key, value in bound.arguments.items()}
        except TypeError as error:  # What cannot be copied, and wrong calls.
            kit.refuse("%s: %s" % (kit.caller(), error))
            thread.wait()
            return original(self, *args, **kwargs)
        bound.arguments.update(held)
        thread.put(lambda: original(*bound.args, **bound.kwargs))
        kit.engaged("%s: %s" % (kit.caller(), name))

    setattr(kind, name, later)


def _copied(value):
    kind = type(value)
    if kind in (int, float, bool, str, bytes, type(None)):
        return value
    if kind in (list, tuple):
        return kind(map(_copied, value))
    if kind is dict:
        return {key: _copied(part) for key, part in value.items()}
    if kind.__module__ == "numpy" and value.dtype != object:
        return copy.copy(value)
    if kind.__module__.startswith("torch") and hasattr(value, "detach"):
        return value.detach().clone()
    raise TypeError("%s cannot be copied for a thread" % kind.__name__)
