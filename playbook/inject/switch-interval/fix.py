"""Threads of Python take turns after this many seconds, if there are several.

A job that sets the interval itself is left alone.
"""
import functools
import sys
import threading


def install(kit, value):
    wanted = float(value)
    before = sys.getswitchinterval()
    start = threading.Thread.start

    @functools.wraps(start)
    def started(self):
        if sys.getswitchinterval() == before:
            sys.setswitchinterval(wanted)
            kit.engaged("%g → %g s" % (before, wanted))
        return start(self)

    threading.Thread.start = started
