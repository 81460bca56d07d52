#!/usr/bin/python3
"""A launcher plug-in for tests: a scheduler of one folder ($TOY_DIR) on this machine.

Called as submit, release, status, cancel or capacity (docs/format/launcher.md). $TOY_WRONG names a
mistake to make, so that a test can see that `amdahl launcher check` finds it.
"""
import json
import os
import signal
import subprocess
import sys
import time

WRONG = os.environ.get("TOY_WRONG", "")
DIR = os.environ["TOY_DIR"]


def path(name):
    return os.path.join(DIR, name.replace("/", "_") + ".json")


def load(name):
    try:
        with open(path(name), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def save(job):
    beside = path(job["name"]) + ".new"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(job, file)
    os.replace(beside, path(job["name"]))


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start(job):
    """Runs the job's command; a process of ours waits for its end."""
    if os.fork() != 0:
        return
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    command = " ".join(job["command"]) if WRONG == "shell" else job["command"]
    with open(job["log"], "ab") as log:
        run = subprocess.Popen(command, shell=WRONG == "shell", stdout=log, stderr=log,
                               start_new_session=True)
    job.update(state="running", pid=run.pid, began=time.time())
    save(job)
    run.wait()
    job.update(state="ended", ended=time.time())
    save(job)
    os._exit(0)


def submit(runs):
    for run in runs:
        job = load(run["name"])
        if job is None:
            number = len(os.listdir(DIR)) + 1
            job = dict(run, id=str(number), state="held")
            save(job)
            if WRONG == "not-held":
                start(job)
        yield {"name": run["name"], "answer": "accepted",
               "id": "" if WRONG == "no-id" else job["id"]}


def release(runs):
    names = [run["name"] for run in runs]
    if WRONG == "releases-all":
        names += [file[:-5] for file in os.listdir(DIR) if file.endswith(".json")]
    for name in dict.fromkeys(names):
        job = load(name)
        if job and job["state"] == "held" and WRONG != "never-starts":
            start(job)
            while load(name)["state"] == "held":
                time.sleep(0.01)
    for run in runs:
        yield {"name": run["name"], "answer": "ok" if load(run["name"]) else "failed",
               "reason": "no such job"}


def status(runs):
    for run in runs:
        job = load(run["name"])
        if job is None:
            yield {"name": run["name"], "answer": "absent"}
            continue
        state = job["state"]
        if state == "running" and not alive(job["pid"]):
            job = load(run["name"])
            state = "ended"
        if WRONG == "shows-queued" and state == "running":
            state = "queued"
        answer = {"name": run["name"], "answer": state, "id": job["id"]}
        if WRONG == "another-id":
            answer["id"] += "0"
        if state == "ended":
            wall = job.get("ended", time.time()) - job.get("began", job.get("ended", 0))
            wall = 3600 if WRONG == "charges-an-hour" else wall
            answer["charge"] = {"wall_s": max(0, wall), "accelerators": job["accelerators"],
                                "cpus": job["cpus"]}
            if WRONG == "charges-nothing":
                answer["charge"]["accelerators"] = 0
        yield answer


def cancel(runs):
    for run in runs:
        job = load(run["name"])
        if job and job["state"] == "held" and WRONG != "keeps-held":
            job.update(state="ended", ended=0)
            save(job)
        elif job and job["state"] == "running" and WRONG != "cannot-cancel":
            os.kill(job["pid"], signal.SIGKILL if run["at_once"] else signal.SIGTERM)
        yield {"name": run["name"], "answer": "ok"}


def capacity(need):
    too_much = need["cpus"] > 1000 and WRONG != "boundless"
    return {"room": 0 if too_much else 4, "hardware": "" if WRONG == "no-hardware" else "toy",
            "never": "it needs more than 1000 CPUs" if too_much else ""}


def main():
    verb = os.path.basename(sys.argv[0])
    question = json.load(sys.stdin)
    os.makedirs(DIR, exist_ok=True)
    if WRONG == "no-json":
        print("Your job 1 has been submitted")
    elif verb == "capacity":
        print(json.dumps(capacity(question)))
    else:
        print(json.dumps({"answers": list(globals()[verb](question["runs"]))}))


main()
