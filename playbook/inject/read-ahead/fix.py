"""A thread reads the files that the job opens next into the page cache while it computes.

For loops that read their files inline. What comes next is known from the order of the folder, or
from an earlier pass. The job reads every file itself, as ever: nothing but time can change. Only
regular files are touched, so that no pipe is drained and no device woken.
"""
import builtins
import functools
import io
import itertools
import os
import queue
import stat
import threading

_SURE = 3  # Right guesses in a row, before anything is read.
_LARGEST = 256 << 20
_PIECE = 1 << 20
_FOLDERS = 64  # Whose orders are remembered,
_NAMES = 200_000  # and the most that is remembered of each, and of all passes.


def install(kit, value):
    if not hasattr(os, "preadv"):
        kit.refuse("this system cannot say what is in its page cache")
        return
    ahead = _Ahead(kit, int(value))
    for owner in (builtins, io):
        _watch(owner, ahead)
    os.register_at_fork(after_in_child=ahead.forget_thread)


def _watch(owner, ahead):
    original = owner.open

    @functools.wraps(original)
    def opened(file, mode="r", *args, **kwargs):
        if mode in ("r", "rb", "rt", "br") and isinstance(file, (str, os.PathLike)):
            ahead.opened(file)
        return original(file, mode, *args, **kwargs)

    owner.open = opened


class _Ahead:
    def __init__(self, kit, depth):
        self.kit = kit
        self.depth = depth
        self.after = {}  # The path that was opened after this one, in an earlier pass.
        self.orders = {}  # Of folders: name to the next name, for each order they may be read in.
        self.visits = {}  # Of folders: files opened.
        self.broken = False
        self.guessed = {}  # Of the last path, by each way of guessing.
        self.right = {}
        self.last = None
        self.fetched = set()
        self.forget_thread()

    def forget_thread(self):
        self.queue = queue.SimpleQueue()
        self.thread = None
        self.asked = set()

    def opened(self, file):
        if self.broken:
            return
        try:
            path = os.path.abspath(os.fspath(file))
            if isinstance(path, str) and path != self.last:
                self._opened(path)
        except Exception as error:
            self.broken = True
            self.kit.refuse("%s: %s" % (type(error).__name__, error))

    def _opened(self, path):
        if path in self.fetched:
            self.fetched.discard(path)
            self.kit.engaged("%s: %s" % (self.kit.caller(), os.path.dirname(path)))
        self.asked.discard(path)
        best = None
        for way, guess in self.guessed.items():
            self.right[way] = self.right.get(way, 0) + 1 if guess == path else 0
            if self.right[way] >= _SURE and (best is None or self.right[way] > self.right[best]):
                best = way
        if self.last is not None and len(self.after) < _NAMES:
            self.after[self.last] = path
        self.last = path
        self.guessed = {way: self._next(way, path) for way in ("pass", "sorted", "listed")}
        if best is not None:
            self._ask(best, self.guessed[best])

    def _next(self, way, path):
        if way == "pass":
            return self.after.get(path)
        folder, name = os.path.split(path)
        if folder not in self.orders:
            self.visits[folder] = self.visits.get(folder, 0) + 1
            if self.visits[folder] <= _SURE or len(self.orders) >= _FOLDERS:
                return None
            self.orders[folder] = _orders(folder)
        following = self.orders[folder][way].get(name)
        return None if following is None else os.path.join(folder, following)

    def _ask(self, way, path):
        for _ in range(self.depth):
            if path is None:
                return
            if path not in self.asked:
                self.asked.add(path)
                self._put(path)
            path = self._next(way, path)

    def _put(self, path):
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="amdahl ahead", daemon=True)
            self.thread.start()
        self.queue.put(path)

    def _run(self):
        piece = bytearray(_PIECE)
        while True:
            path = self.queue.get()
            try:
                if path in self.asked and _fetch(path, piece):
                    self.fetched.add(path)
            except OSError:
                pass


def _orders(folder):
    with os.scandir(folder) as entries:
        listed = [entry.name for entry in itertools.islice(entries, _NAMES)]
    names = sorted(listed)
    return {"sorted": dict(zip(names, names[1:])), "listed": dict(zip(listed, listed[1:]))}


def _fetch(path, piece):
    """Whether something of it had to be read."""
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode) or not 0 < about.st_size <= _LARGEST:
        return False
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if _is_cached(file, about.st_size - 1):
            return False
        at = 0
        while at < about.st_size:
            got = os.preadv(file, [piece], at)
            if got <= 0:
                break
            at += got
    finally:
        os.close(file)
    return True


def _is_cached(file, at):
    try:
        return os.preadv(file, [bytearray(1)], at, os.RWF_NOWAIT) > 0
    except BlockingIOError:
        return False
    except OSError:  # This file system cannot tell.
        return False
