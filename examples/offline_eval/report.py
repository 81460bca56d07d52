"""Tells the supervisor what the job did: JSON lines in the file that AMDAHL_REPORT names."""

import contextlib
import json
import os
import time


class Report:
    """Phases are kept in memory and written at the end, so that telling costs no step time.

    Neighbouring spans of one name are merged. Steps are far too many for a line each, so inside
    the loop the phases of a window of steps become one span each, laid end to end: their lengths
    are exact, their places right to within the window.
    """

    def __init__(self, window_s=0.25):
        self.path = os.environ.get("AMDAHL_REPORT")
        self.window_s = window_s
        self.spans = []
        self.facts = []
        self.window = {}
        self.window_start = None

    @contextlib.contextmanager
    def phase(self, name):
        self.close_window()
        start = time.time()
        try:
            yield
        finally:
            self.add(name, start, time.time())

    def add(self, name, start, end):
        if self.spans and self.spans[-1][0] == name and start - self.spans[-1][2] < 0.001:
            self.spans[-1][2] = end
        else:
            self.spans.append([name, start, end])

    def step(self, name, start, end):
        """Part of a step; call them in order of time."""
        if self.window_start is None:
            self.window_start = start
        self.window[name] = self.window.get(name, 0.0) + (end - start)
        if end - self.window_start >= self.window_s:
            self.close_window()

    def close_window(self):
        if self.window_start is None:
            return
        at = self.window_start
        for name, length in self.window.items():
            self.add(name, at, at + length)
            at += length
        self.window = {}
        self.window_start = None

    def work(self, amount):
        self.facts.append({"work": amount})

    def metric(self, name, value):
        self.facts.append({"metric": {name: value}})

    def write(self):
        self.close_window()
        if not self.path:
            return
        with open(self.path, "a") as file:
            for fact in self.facts:
                file.write(json.dumps(fact) + "\n")
            for name, start, end in self.spans:
                span = {"phase": name, "start": round(start, 6), "end": round(end, 6)}
                file.write(json.dumps(span) + "\n")
