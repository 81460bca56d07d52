"""Files that the job syncs to disk over and over are synced once a second and at its end.

Readers see the same bytes at every moment; a machine that loses power may lose the last second.
"""
import functools
import os
import threading
import time

_EVERY = 1.0


def install(kit, value):
    original = os.fsync
    last = {}
    waiting = {}
    lock = threading.Lock()

    def identity(number):
        info = os.fstat(number)
        return info.st_dev, info.st_ino

    def sync(file, number):
        try:
            if identity(number) == file:
                original(number)
        except OSError:  # Closed since: the kernel has what was written.
            pass

    @functools.wraps(original)
    def late(fd):
        number = fd if isinstance(fd, int) else fd.fileno()
        file = identity(number)  # Raises what fsync would for a file that is not open.
        now = time.monotonic()
        with lock:
            due = now - last.get(file, -_EVERY) >= _EVERY
            if due:
                last[file] = now
                waiting.pop(file, None)
            else:
                waiting[file] = number
        if due:
            return original(fd)
        kit.engaged(kit.caller())

    def finish():
        with lock:
            files = dict(waiting)
            waiting.clear()
        for file, number in files.items():
            sync(file, number)

    os.fsync = late
    kit.at_exit(finish)
