"""Observes an unchanged PyTorch job from inside; writes AMDAHL_HOOK_OUT at exit.

Nothing here may break the job or change what it computes: every step is guarded, and a guard that
fails leaves the job as it was, with less in the report. The format is in docs/format/hook.md.
"""
import os
import sys

import _amdahl_calls as _calls
import _amdahl_end as _end
import _amdahl_lines as _lines
import _amdahl_report as _report
import _amdahl_trace as _trace
import _amdahl_watch as _watch

_DURATIONS = 100_000  # Steps whose length is kept.
_IMPORTS = 10  # Modules listed.
_START = ("import", "installed")  # Totals that a forked child takes over.
_SO_FAR = 2.0  # Seconds between reports of a job that may be killed.


def _number(name, fallback):
    try:
        return float(os.environ.get(name, fallback))
    except ValueError:
        return float(fallback)


class _Hook:
    """All measurements of one process. A forked child continues with a copy."""

    def __init__(self, out):
        import threading
        import time

        self.out = out
        self.ident = threading.get_ident
        self.native_id = getattr(threading, "get_native_id", self.ident)
        self.lock = threading.Lock
        self.clock = time.perf_counter
        self.cpu = time.process_time
        self.began = self._process_start(time)
        self.warmup = int(_number("AMDAHL_HOOK_WARMUP", 3))
        self.window_steps = int(_number("AMDAHL_HOOK_STEPS", 20))
        self.window_seconds = _number("AMDAHL_HOOK_SECONDS", 10)
        self.overhead = 0.0  # Our own time, taken out of the process's.
        self.totals = {}  # Name to [seconds, calls].
        self.torch_import = None
        self.imports = {}  # Outermost module to seconds.
        self.nested = 0.0  # Seconds of imports inside of the one that goes on.
        self.forked = False
        self.termination = None  # What SIGTERM does.
        self.forwards = None  # Takes calls of the outermost module for steps, while no loader gives any.
        self.start_over()

    def start_over(self):
        """State of this process only."""
        self.pid = os.getpid()
        self.main = self.thread = self.ident()  # The second is the one that makes the steps.
        self.native = self.native_id()
        self.moved = 0  # Steps before that thread made its first.
        self.signal = None  # That ended it.
        self.writing = self.lock()
        self.depth = {}
        self.rank = None
        self.steps = 0
        self.first_step = self.last_step = None
        self.step_began = None
        self.durations = []
        self.first_batch = None
        self.sampler = None
        self.step_range = None
        self.loaders, self.makers = {}, set()  # The latter: (file, line, function) of calls.
        self.grad = [0, 0, 0]  # Forward calls, with gradients, in inference mode.
        self.window = None
        self.window_result = None
        self.own_profiler = False  # The job's.
        self.finished = False

    def after_fork(self):
        """In the child: keeps the parent's start, but not its steps."""
        self.forked = True
        try:
            if self.termination is not None:
                self.termination.after_fork()
        except Exception:
            pass
        self.totals = {name: row for name, row in self.totals.items() if name in _START}
        self.start_over()

    def watch_lines(self):
        self.sampler = _lines.Sampler(
            self.thread, self.clock, self.phase, self.look, self.write_so_far, _SO_FAR
        )

    def look(self):
        if self.termination is not None:
            self.termination.look()

    def phase(self):
        """What the step thread is doing; called by the sampling thread."""
        if self.depth.get("next"):
            return "input"
        return "startup" if self.first_step is None else "step"

    def _process_start(self, time):
        """When the kernel started this process, on our clock: before the interpreter."""
        now = self.clock()
        try:
            with open("/proc/self/stat", "rb") as stat:
                ticks = int(stat.read().rsplit(b")", 1)[1].split()[19])
            age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
            return now - max(0.0, age)
        except Exception:
            return now

    def mine(self):
        """Whether this is the step thread of the original process."""
        # Not by `ident`, which new threads reuse.
        return self.native_id() == self.native and os.getpid() == self.pid

    def follow(self):
        """Whether a call of the model in this thread is a step. The steps go where the model runs: a
        main thread that hands them to others, and had at most a trial itself, is left for these."""
        if self.mine():
            return True
        is_held = self.depth.get("forward") or self.loaders or self.window is not None
        if is_held or os.getpid() != self.pid:
            return False
        if self.thread == self.main:
            if self.steps > self.warmup:
                return False
            self.forget_trial()
        self.thread = self.ident()
        self.native = self.native_id()
        self.moved = self.steps
        if self.sampler is not None:
            self.sampler.watched = self.thread
        return True

    def forget_trial(self):
        self.steps = 0
        self.durations = []
        self.step_began = self.first_step = None

    def timed(self, name, function, *args, **kwargs):
        """Calls and times the function; recursive calls do not count."""
        if not self.mine() or self.depth.get(name):
            return function(*args, **kwargs)
        self.depth[name] = 1
        began = self.clock()
        try:
            return function(*args, **kwargs)
        finally:
            self.depth[name] = 0
            total = self.totals.setdefault(name, [0.0, 0])
            total[0] += self.clock() - began
            total[1] += 1

    # Steps.

    def begin(self, now):
        if self.first_step is None:
            self.first_step = now
            if self.sampler is None:  # A forked child that does the work.
                self.watch_lines()
                if self.termination is not None and self.thread == self.main:
                    self.termination.install()
        self.end_step(now)
        self.turn_window()

    def before_next(self):
        if self.forwards is not None:
            self.forwards.leave()
            self.forwards = None
            if 0 < self.steps <= self.warmup and self.window is None:
                self.forget_trial()
        self.begin(self.clock())

    def after_next(self, began, iterator):
        now = self.clock()
        total = self.totals.setdefault("loader", [0.0, 0])
        total[0] += now - began
        total[1] += 1
        if self.first_batch is None:
            self.first_batch = now - began
        self.steps += 1
        self.step_began = began
        self.last_step = now
        key = type(iterator).__name__, id(getattr(iterator, "_dataset", None))
        known = self.loaders.get(key)
        if known is None:
            known = self.loaders[key] = [0, _report.describe_loader(iterator)]
        known[0] += 1
        if getattr(iterator, "_num_yielded", 0) == 1:
            known[1]["passes"] = known[1].get("passes", 0) + 1

    def before_forward(self):
        self.begin(self.clock())
        self.steps += 1
        self.step_began = self.last_step = self.clock()

    def end_step(self, now):
        if self.step_began is None:
            return
        if len(self.durations) < _DURATIONS:
            self.durations.append(now - self.step_began)
        self.step_began = None
        self.last_step = now

    # The window in which torch's profiler runs.

    def turn_window(self):
        began = self.clock()
        if self.window is None and self.window_result is None:
            if self.window_steps > 0 and self.is_steady():
                self.open_window()
        elif self.window is not None:
            if (
                self.steps - self.window["from"] >= self.window_steps
                or began - self.window["began"] >= self.window_seconds
            ):
                self.close_window()
        self.overhead += self.clock() - began
        if self.window is not None and "began" not in self.window:
            self.window["began"] = self.clock()
        if self.window is not None or self.step_range is not None:
            self.mark_step(sys.modules["torch"])

    def is_steady(self):
        """After the warm-up, once two consecutive steps took about as long, or after enough steps."""
        if self.steps - self.moved < self.warmup:
            return False
        last = self.durations[-2:]
        return (
            len(last) < 2 or max(last) <= _report.STEADY * min(last) or self.steps >= 4 * self.warmup
        )

    def mark_step(self, torch):
        """Marks the steps of the window with the names that torch's schedule uses."""
        if self.step_range is not None:
            self.step_range.__exit__(None, None, None)
            self.step_range = None
        if self.window is not None:
            name = "ProfilerStep#%d" % self.steps
            self.step_range = torch.autograd.profiler.record_function(name)
            self.step_range.__enter__()

    def open_window(self):
        torch = sys.modules["torch"]
        self.window_result = {}  # Whatever happens, not twice.
        self.note_rank(torch)
        if torch.autograd._profiler_enabled():
            self.own_profiler = True
            return
        from torch.profiler import ProfilerActivity, profile

        self.window = {"from": self.steps, "written": self.written()}
        try:
            activities = [ProfilerActivity.CPU]
            if torch.cuda.is_available():
                activities.append(ProfilerActivity.CUDA)
            profiler = profile(activities=activities)
            self.window["profiler"] = profiler
            self.depth["window"] = 1
            profiler.start()
            self.depth["window"] = 0
            # Converting events takes a second or two: postponed until the job is done.
            profiler.profiler._parse_kineto_results = lambda result: []
            self.window["handle"] = _report.count_forwards(torch, self)
        except Exception:
            self.depth["window"] = 0
            self.window = None

    def close_window(self):
        window, self.window = self.window, None
        if window is None:
            return
        try:
            self.mark_step(sys.modules["torch"])
        except Exception:
            pass
        self.window_result = {
            "steps": self.steps - window["from"],
            "wall_s": self.clock() - window.get("began", self.clock()),
            "written_s": round(self.written() - window["written"], 6),
        }
        try:
            window["handle"].remove()
            window["profiler"].stop()
            self.window_result["profiler"] = window["profiler"]
        except Exception:
            pass

    def written(self):
        return sum(self.totals.get(name, (0.0,))[0] for name in ("save", "fsync"))

    # The report.

    def note_rank(self, torch):
        """Called while the job runs: at the end the process group is often gone."""
        try:
            group = torch.distributed
            if group.is_available() and group.is_initialized():
                self.rank = group.get_rank(), group.get_world_size()
        except Exception:
            pass

    def write_so_far(self):
        """From the sampling thread: writes what there is, in case the job is killed."""
        if self.finished or os.getpid() != self.pid or (self.forked and not self.steps):
            return
        report = self.report(self.clock(), self.overhead, ended=False)
        report["lines"] = self.sampler.rows()
        if self.writing.acquire(blocking=False):  # Else the end has come.
            try:
                self.write(report)
            finally:
                self.writing.release()

    def finish(self):
        if self.finished or os.getpid() != self.pid or (self.forked and not self.steps):
            return
        self.writing.acquire(timeout=5)  # What was begun is soon done; it must not come after us.
        self.finished = True
        now, cpu = self.clock(), self.cpu()
        before = self.overhead
        if self.mine():  # Torch's profiler must be ended where it was started.
            self.close_window()  # A step that is still open has no length that we know.
        profiler = self.window_result.get("profiler") if self.window_result else None
        report = self.report(now, before)
        self.add_lines(report)
        self.write_at_exit(report, now, cpu)
        if profiler is not None:
            path = os.path.join(os.path.dirname(self.out), _trace.file_name(self.pid))
            _trace.write(profiler, path, report.get("rank"), report.get("world_size"))
            self.write_at_exit(report, now, cpu)

    def write_at_exit(self, report, began, cpu):
        report["exit_s"] = round(self.clock() - began, 6)
        report["exit_cpu_s"] = round(self.cpu() - cpu, 6)
        self.write(report)

    def add_lines(self, report):
        if self.sampler is not None:
            self.sampler.end()
            report["lines"] = self.sampler.rows() + _report.makers(self.makers)
            report["lines_cpu_s"] = round(self.sampler.own, 6)

    def report(self, now, overhead, ended=True):
        torch = sys.modules.get("torch")
        seconds = lambda name: round(self.totals.get(name, [0.0, 0])[0], 6)
        calls = lambda name: self.totals.get(name, [0.0, 0])[1]
        report = {
            "schema": 1,
            "pid": self.pid,
            "torch": getattr(torch, "__version__", None) and str(torch.__version__),
            "ended": ended,
            "wall_s": round(now - self.began - overhead, 6),
            "overhead_s": round(overhead, 6),
            "import_s": seconds("import"),
            "installed_import_s": seconds("installed"),
            "torch_import_s": self.torch_import,
            "steps": self.steps,
            "loader_wait_s": seconds("loader"),
            "save_s": seconds("save"),
            "save_calls": calls("save"),
            "fsync_s": seconds("fsync"),
            "fsync_calls": calls("fsync"),
            "decode_s": seconds("decode"),
            "decode_calls": calls("decode"),
            "gc_s": seconds("gc"),
            "gc_calls": calls("gc"),
            "backward_calls": calls("backward"),
            **_calls.rows(self.totals),
            "uncompiled_modules": _report.uncompiled_modules(),
        }
        self.add_rank(report)
        if self.first_batch is not None:
            report["first_batch_s"] = round(self.first_batch, 6)
        if self.imports:
            slowest = sorted(self.imports.items(), key=lambda item: -item[1])[:_IMPORTS]
            report["imports"] = [{"module": m, "seconds": round(s, 6)} for m, s in slowest]
        if self.first_step is not None:
            report["startup_s"] = round(self.first_step - self.began, 6)
            if ended and self.signal is None:  # Else what it was at was a step.
                report["teardown_s"] = round(now - self.last_step, 6)
        if self.durations:
            report["step_s"] = _report.summary(self.durations)
            report["warmup_s"] = _report.warmup(self.durations)
        if self.signal is not None:
            report["signal"] = self.signal
        if self.steps:
            report["step_thread"] = self.native
            report["steps_by"] = "loader" if self.loaders else "forward"
        if self.loaders:
            report["loader"] = max(self.loaders.values(), key=lambda row: row[0])[1]
        if self.grad[0]:
            report["grad_enabled_share"] = self.grad[1] / self.grad[0]
            report["inference_mode_share"] = self.grad[2] / self.grad[0]
        if torch is not None:
            try:
                report["torch_threads"] = torch.get_num_threads()
            except Exception:
                pass
        if self.own_profiler:
            report["own_profiler"] = True
        if self.window_result and ended:
            report["window"] = _report.window_rows(self.window_result)
        return report

    def add_rank(self, report):
        if self.rank is not None:
            report["rank"], report["world_size"] = self.rank
            return
        for name, variable in (("rank", "RANK"), ("world_size", "WORLD_SIZE")):
            if os.environ.get(variable, "").isdigit():
                report[name] = int(os.environ[variable])

    def write(self, report):
        """Atomic. Of several processes, the one with the most steps wins; without steps, one with
        torch."""
        import json

        try:
            with open(self.out, encoding="utf-8") as file:
                earlier = json.load(file)
            key = lambda row: (
                -row.get("steps", 0),
                row.get("torch") is None,
                row.get("rank", 0),
                -row.get("wall_s", 0),
            )
            if earlier.get("pid") != self.pid and key(earlier) < key(report):
                return
        except (OSError, ValueError):
            pass
        beside = "%s.%d" % (self.out, self.pid)
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1, sort_keys=True)
        os.replace(beside, self.out)


def install(out):
    import atexit

    hook = _Hook(out)

    def finish():
        try:
            hook.finish()
        except Exception:
            pass

    hook.at_torch = lambda: _end.watch(hook, finish)
    # Registered first, so it runs last: other exit handlers are part of the teardown.
    atexit.register(finish)
    for step in (
        hook.watch_lines,
        lambda: os.register_at_fork(after_in_child=hook.after_fork),
        lambda: _watch.patch(os, "fsync", hook, "fsync"),
        lambda: _watch.exits(hook, finish),
        lambda: _watch.collector(hook),
        lambda: _watch.imports(hook),
    ):
        try:
            step()
        except Exception:
            pass
