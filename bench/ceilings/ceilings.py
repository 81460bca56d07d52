#!/usr/bin/env python3
"""Ceilings that `amdahl profile --measure` found, beside the truth of ten planted jobs.

usage: bench/ceilings/ceilings.py AMDAHL [JOB...]

Each job waits a known time for one cause and a known time for all else, so the truth is known: its
run time as it is, by that with the cause's waits left out (five runs of each, the medians). PYTHON
(with torch) may be set; default /usr/bin/python3.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")

# STEPS times: WORK seconds of other things, COST seconds of the cause.
LOGGING = """
import logging, time, os
class Slow(logging.Handler):
    def emit(self, record):
        time.sleep(COST)
logging.getLogger().addHandler(Slow())
for step in range(STEPS):
    time.sleep(WORK)
    logging.warning("step %d", step)
print("step", STEPS, "loss 1.5")
"""
STREAM = """
import logging, sys, time
class Slow:
    def write(self, text):
        time.sleep(COST)
    def flush(self):
        pass
logging.basicConfig(stream=Slow(), level=logging.INFO)
for step in range(STEPS):
    time.sleep(WORK)
    logging.info("step %d", step)
print("step", STEPS, "loss 1.5")
"""
INPUT = """
import time, torch
from torch.utils.data import DataLoader, Dataset
class Samples(Dataset):
    def __len__(self):
        return STEPS
    def __getitem__(self, index):
        time.sleep(COST)
        return torch.zeros(4)
if __name__ == "__main__":
    for batch in DataLoader(Samples(), batch_size=1, num_workers=WORKERS):
        time.sleep(WORK)
    print("step", STEPS, "loss 1.5")
"""
CHECKPOINT = """
import time, torch
class State:
    def __getstate__(self):
        time.sleep(COST)
        return {}
for step in range(STEPS):
    time.sleep(WORK)
    torch.save({"state": State(), "weights": torch.zeros(8)}, "model.pt")
print("step", STEPS, "loss 1.5")
"""

# Name, cause, source, steps, work and cost a step, loader workers.
JOBS = (
    ("log lines, many", "logging", LOGGING, 60, 0.02, 0.02, 0),
    ("log lines, few", "logging", LOGGING, 30, 0.05, 0.01, 0),
    ("log lines, most of it", "logging", LOGGING, 40, 0.01, 0.04, 0),
    ("a slow log file", "logging", STREAM, 100, 0.01, 0.01, 0),
    ("input, half", "input", INPUT, 60, 0.03, 0.03, 0),
    ("input, a little", "input", INPUT, 50, 0.05, 0.01, 0),
    ("input, most of it", "input", INPUT, 50, 0.01, 0.05, 0),
    ("input, one worker that is too slow", "input", INPUT, 50, 0.02, 0.06, 1),
    ("checkpoints, half", "checkpoint", CHECKPOINT, 20, 0.08, 0.08, 0),
    ("checkpoints, a little", "checkpoint", CHECKPOINT, 20, 0.12, 0.02, 0),
)


def source(job, cost):
    _, _, text, steps, work, _, workers = job
    named = ("STEPS", steps), ("WORKERS", workers), ("WORK", work), ("COST", cost)
    for name, value in named:
        text = text.replace(name, repr(value))
    return text


def seconds(folder, name):
    began = time.monotonic()
    subprocess.run([PYTHON, name], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def truth_of(folder):
    """Interleaved, so that the host's other work meets both."""
    runs = [(seconds(folder, "job.py"), seconds(folder, "without.py")) for _ in range(5)]
    as_it_is, without = (statistics.median(times) for times in zip(*runs))
    return as_it_is / without


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    amdahl = os.path.abspath(sys.argv[1])
    right = 0
    chosen = [job for job in JOBS if not sys.argv[2:] or job[0] in sys.argv[2:]]
    print("| job | cause | truth | computed at most | measured | within |")
    print("|---|---|---:|---:|---:|---|")
    for job in chosen:
        with tempfile.TemporaryDirectory() as folder:
            for name, cost in (("job.py", job[5]), ("without.py", 0)):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(source(job, cost))
            truth = truth_of(folder)
            made = subprocess.run(
                [amdahl, "--state", os.path.join(folder, "state"), "profile", "--measure", job[1],
                 "--json", "--", PYTHON, "job.py"],
                cwd=folder, capture_output=True, text=True)
            if made.returncode != 0:
                sys.exit("%s: %s" % (job[0], made.stderr))
            ceiling = json.loads(made.stdout)["ceilings"][0]
        low, high = ceiling["lower"], ceiling["upper"]
        within = low <= truth <= high
        right += within
        print("| %s | %s | %.2fx | %s | %.2fx (%.2f to %.2f) | %s |" % (
            job[0], job[1], truth,
            "%.2fx" % ceiling["computed"] if ceiling.get("computed") else "not known",
            ceiling["measured"], low, high, "yes" if within else "no"), flush=True)
    print("\n%d of %d" % (right, len(chosen)))


main()
