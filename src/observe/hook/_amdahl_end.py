"""Writes the report when a torch job gets SIGTERM, which schedulers send at the time limit."""
import os

_PATIENCE = 1.0  # Seconds until the main thread is taken to be in a call that does not return.


class Termination:
    """A handler in place of the default action: it lets the hook write, then ends just so.

    The job does not see it: who asks for the handler is told the default, and who sets one has it.
    Python runs handlers in the main thread, between two of its instructions. For a main thread that
    does not come to that, the thread that looks at lines calls `look`.
    """

    def __init__(self, hook, finish):
        import signal
        import threading
        import time

        self.finish = finish
        self.hook = hook
        self.number = signal.SIGTERM
        self.default = signal.SIG_DFL
        self.set = signal.signal
        self.get = signal.getsignal
        self.wakeup = signal.set_wakeup_fd
        self.clock = time.monotonic
        self.sleep = time.sleep
        self.ident = threading.get_ident
        self.lock = threading.Lock()
        self.owner = None  # The thread that ends the process.
        self.told = None  # When `look` first saw that it was asked for.
        self.pipe = ()  # Python writes the numbers of signals there.
        self.file = None
        if self.get(self.number) != self.default:
            return
        self._hide(signal)
        self.install()

    def _hide(self, signal):
        import functools

        @functools.wraps(signal.signal)
        def set_handler(number, handler):
            ours = number == self.number and self.pipe and os.getpid() == self.hook.pid
            before = self.set(number, self.handle if ours and handler == self.default else handler)
            return self.default if before == self.handle else before

        @functools.wraps(signal.getsignal)
        def get_handler(number):
            found = self.get(number)
            return self.default if found == self.handle else found

        @functools.wraps(signal.set_wakeup_fd)
        def set_wakeup(*args, **kwargs):
            before = self.wakeup(*args, **kwargs)
            return -1 if self.pipe and before == self.pipe[1] else before

        signal.signal, signal.getsignal, signal.set_wakeup_fd = set_handler, get_handler, set_wakeup

    def install(self):
        """Only the main thread may do this."""
        if self.get(self.number) != self.default:
            return
        self.pipe = tuple(_far_away(end) for end in os.pipe())
        self.file = os.fstat(self.pipe[0]).st_ino
        before = self.wakeup(self.pipe[1], warn_on_full_buffer=False)
        if before != -1:
            self.wakeup(before)
        self.set(self.number, self.handle)

    def after_fork(self):
        """A child ends at once, as without the hook, until it runs steps of its own."""
        pipe, self.pipe = self.pipe, ()
        self.owner = self.told = None
        if self.lock.locked():
            self.lock.release()
        if not pipe:
            return
        if self.get(self.number) == self.handle:
            self.set(self.number, self.default)
        before = self.wakeup(-1)
        if before not in (-1, pipe[1]):
            self.wakeup(before)
        for end in pipe:
            os.close(end)

    def handle(self, number, frame):
        if self.owner == self.ident():
            return  # It is told twice.
        if self._take():
            self.finish()
            self.set(self.number, self.default)
            os.kill(os.getpid(), self.number)
        while True:  # Another thread is at it, and ends us all.
            self.sleep(1)

    def look(self):
        """In another thread: ends the process if the main thread does not get to it."""
        if not self.pipe or self.owner is not None:
            return
        try:
            # A daemon closes all files; this descriptor may then belong to the job.
            if os.fstat(self.pipe[0]).st_ino != self.file:
                self.pipe = ()
            elif self.number in os.read(self.pipe[0], 64) and self.told is None:
                self.told = self.clock()
        except OSError:
            pass
        if self.get(self.number) != self.handle:
            self.told = None  # It is the job's own matter.
        if self.told is not None and self.clock() - self.told > _PATIENCE and self._take():
            self.finish()
            self._die()

    def _take(self):
        if not self.lock.acquire(blocking=False):
            return False
        self.owner = self.ident()
        self.hook.signal = int(self.number)
        return True

    def _die(self):
        """Python lets only its main thread set a handler; the C library allows any thread."""
        try:
            import ctypes

            ctypes.CDLL(None).signal(int(self.number), None)
            os.kill(os.getpid(), self.number)
            self.sleep(1)
        finally:
            os.kill(os.getpid(), 9)


def _far_away(end):
    """A descriptor number that the job's own files never use."""
    import fcntl

    os.set_blocking(end, False)
    try:
        far = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 1000)
    except OSError:
        return end
    os.close(end)
    return far


def watch(hook, finish):
    """Once torch is imported, in the thread that may set handlers."""
    import threading

    if threading.current_thread() is threading.main_thread():
        hook.termination = Termination(hook, finish)
