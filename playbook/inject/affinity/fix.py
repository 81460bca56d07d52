"""Processes that the job forks may use every CPU of the run, not only those that it is bound to.

OpenMP with OMP_PROC_BIND binds the main thread to one CPU; loader workers inherit that, and share
that CPU with the step. Asked for its CPUs, a process is told those that it would have had. Programs
that are started anew are left alone: they may set up as many threads as they have CPUs.
"""
import functools
import os


def install(kit, value):
    read, bind = os.sched_getaffinity, os.sched_setaffinity
    every = read(0)
    told = {"cpus": None}  # What the process believes its CPUs to be; None: the truth.

    def widen():
        now = read(0)
        if told["cpus"] is None and now < every:
            told["cpus"] = now
            bind(0, every)
            kit.engaged("%d → %d CPUs" % (len(now), len(every)))

    @functools.wraps(read)
    def asked(pid):
        if told["cpus"] is not None and pid in (0, os.getpid()):
            return set(told["cpus"])
        return read(pid)

    @functools.wraps(bind)
    def bound(pid, mask):
        if pid in (0, os.getpid()):
            told["cpus"] = None  # Who binds itself knows why.
        return bind(pid, mask)

    os.sched_getaffinity, os.sched_setaffinity = asked, bound
    os.register_at_fork(after_in_child=widen)
