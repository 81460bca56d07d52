"""Writes what the job prints and logs at most every half second, and before anything ends.

The same bytes in the same order. They are also written before a fork, before another program is
started and when an exception ends the job; a kill -9 loses the last half second.
"""
import functools
import io
import os
import sys
import threading
import time

_EVERY = 0.5


class _Late:
    """Flushes of text streams, put off. One for the whole process."""

    def __init__(self, kit):
        self.kit = kit
        self.dirty = {}  # id to (stream, its real flush).
        self.ended = False
        self.lock = threading.Lock()
        self.timer = None

    def put_off(self, stream, flush):
        # Streams that go into one file keep their order.
        others = [other for other, _ in list(self.dirty.values()) if other is not stream]
        if any(_same_file(other, stream) for other in others):
            self.flush()
        with self.lock:
            self.dirty[id(stream)] = (stream, flush)
            self.kit.engaged(getattr(stream, "name", None) or type(stream).__name__)
            if self.timer is None:
                self.timer = threading.Thread(target=self._run, name="amdahl log", daemon=True)
                self.timer.start()

    def _run(self):
        while True:
            time.sleep(_EVERY)
            self.flush()

    def flush(self):
        with self.lock:
            waiting, self.dirty = self.dirty, {}
        for stream, flush in waiting.values():
            try:
                flush()
            except ValueError:  # It was closed, and so it was written.
                pass

    def end(self):
        self.ended = True
        self.flush()

    def after_fork(self):
        self.lock = threading.Lock()
        self.timer = None
        self.dirty = {}


def _same_file(a, b):
    try:
        return os.path.sameopenfile(a.fileno(), b.fileno())
    except (OSError, ValueError, AttributeError):
        return False


class _Stream(io.TextIOWrapper):
    """A standard stream whose flush is put off; else the one that it stands in for."""

    def __init__(self, real, late):
        # The bytes go to the same buffer, which is flushed late.
        super().__init__(
            real.buffer,
            encoding=real.encoding,
            errors=real.errors,
            newline="\n",
            line_buffering=False,
            write_through=False,
        )
        self._real = real
        self._late = late
        self._each_line = real.line_buffering or real.write_through
        self._is_new = False  # Whether something was written since the last flush.
        self.mode = "w"

    def write(self, text):
        count = super().write(text)
        self._is_new = True
        if self._each_line and "\n" in text:
            self.flush()
        return count

    def flush(self):
        late = self.__dict__.get("_late")  # None while it is being made.
        if late is None or late.ended:
            super().flush()
        elif self._is_new:
            self._is_new = False
            late.put_off(self, super().flush)
        elif id(self) not in late.dirty:
            super().flush()  # What was written to its buffer by another way.


def _first(owner, name, flush):
    original = getattr(owner, name)

    @functools.wraps(original)
    def flushed(*args, **kwargs):
        flush()
        return original(*args, **kwargs)

    setattr(owner, name, flushed)


def install(kit, value):
    late = _Late(kit)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        # A terminal has a reader.
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            setattr(sys, name, _Stream(stream, late))

    def logs(logging):
        original = logging.StreamHandler.flush

        @functools.wraps(original)
        def flush(self):
            stream = self.stream
            if stream is None or not hasattr(stream, "flush") or isinstance(stream, _Stream):
                return original(self)
            late.put_off(stream, stream.flush)

        logging.StreamHandler.flush = flush

    def programs(subprocess):
        _first(subprocess.Popen, "__init__", late.flush)

    for name in ("system", "posix_spawn", "execv", "execve", "abort"):
        _first(os, name, late.flush)
    kit.when_imported("logging", logs)
    kit.when_imported("subprocess", programs)
    kit.before_fork(late.flush)
    os.register_at_fork(after_in_child=late.after_fork)
    kit.at_exit(late.end)
