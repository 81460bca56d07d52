"""Samples the thread that runs the steps every few milliseconds, to time the job's lines."""
import gc
import os
import sys

_EVERY = 0.005
_SELDOM = 0.025  # Of a job that runs for longer: a thousand looks tell as much as ten thousand.
# Pauses vary from half to one and a half of this: a loop of that period would be seen at one line.
_GOLDEN = 0.618034
_LONGEST = 1.0  # More is a machine that slept.
# Sampling needs the GIL. By default a thread that computes in Python releases it after 5 ms: its
# line has ended by then, and the next line that releases the lock is seen instead.
_LET_GO = 0.0005
_ROWS = 80


class Sampler:
    """A thread that samples another one. Time inside libraries counts for the calling line.

    It also calls `now_and_then`: often at first, then every `seconds`.
    """

    def __init__(self, thread, clock, phase, look, now_and_then, seconds):
        import threading
        import time

        self.watched = thread
        self.clock = clock
        self.phase = phase  # Called for the name of the present phase.
        self.look = look  # Called each time.
        self.now_and_then = now_and_then
        self.ident = threading.get_ident
        self.every = seconds
        self.seconds = {}  # (file, line, function, phase) to seconds.
        self.own = 0.0  # CPU time of the looking itself.
        self.thread_time = time.thread_time
        self.libraries = libraries()
        self.kept = {}  # File name to whether it is the job's own.
        self.usual = sys.getswitchinterval()
        sys.setswitchinterval(min(_LET_GO, self.usual))
        self.set = sys.getswitchinterval()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, name="amdahl lines", daemon=True)
        self.thread.start()

    def _run(self):
        began = last = called = self.clock()
        _name_thread()
        turn = 0.0
        while not self.stop.wait(min(_SELDOM, max(_EVERY, (last - began) / 1000)) * (0.5 + turn)):
            turn = (turn + _GOLDEN) % 1.0
            frames = self._frames()
            now = self.clock()
            for key in self._places(frames, self.phase()):
                self.seconds[key] = self.seconds.get(key, 0.0) + min(now - last, _LONGEST)
            del frames
            last = now
            self.look()
            if now - called > min(self.every, max(self.every, now - began) / 8):
                self._call()
                called = last = self.clock()
            self.own = self.thread_time()

    def _call(self):
        try:
            self.now_and_then()
        except Exception:
            pass

    def _frames(self):
        """The frames of the watched thread, innermost first.

        Up to Python 3.11 each new object may collect garbage, which runs Python, which lets other
        threads go on: the frame whose object is being made may be gone then, and the job crashes or
        stands still (python/cpython#106883). So nothing is collected meanwhile.
        """
        collects = gc.isenabled()
        gc.disable()
        try:
            frames = []
            frame = sys._current_frames().get(self.watched)
            while frame is not None:
                frames.append(frame)
                frame = frame.f_back
            return frames
        finally:
            if collects:
                gc.enable()

    def _places(self, frames, phase):
        """The job's innermost line; before the steps also the lines that import its module."""
        places = []
        importing = False
        for frame in frames:
            name = frame.f_code.co_filename
            is_ours = self.kept.get(name)
            if is_ours is None:
                is_ours = self.kept[name] = not is_library(name, self.libraries)
            if is_ours and (importing or not places):
                place = name, frame.f_lineno, frame.f_code.co_name
                places.append(place + ("import" if importing else phase,))
                if phase != "startup":
                    break
            importing = not is_ours and (importing or name.startswith("<frozen importlib"))
        return places

    def end(self):
        """Stops before interpreter shutdown, where a running thread is a risk to the job."""
        self.stop.set()
        if self.ident() != self.thread.ident:  # It may be the one to end all.
            self.thread.join(1.0)
        if sys.getswitchinterval() == self.set:  # Else the job has set it since.
            sys.setswitchinterval(self.usual)

    def rows(self):
        """Lines, most time first."""
        ordered = sorted(list(self.seconds.items()), key=lambda item: -item[1])[:_ROWS]
        return [
            {
                "file": os.path.abspath(file),
                "line": line,
                "function": function,
                "phase": phase,
                "seconds": round(seconds, 6),
            }
            for (file, line, function, phase), seconds in ordered
        ]


def _name_thread():
    """Names the thread, so that the outside collectors can exclude it."""
    import threading

    try:
        with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as name:
            name.write("amdahl lines")
    except Exception:
        pass


def libraries():
    import sysconfig

    paths = sysconfig.get_paths()
    roots = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    roots.add(os.path.dirname(os.path.abspath(__file__)))
    return tuple(os.path.join(root, "") for root in roots)


def is_library(name, roots):
    return (
        name.startswith("<")
        or os.path.abspath(name).startswith(roots)
        or "site-packages" in name
        or "dist-packages" in name
    )
