#!/usr/bin/python3
"""A launcher plug-in for Grid Engine: qsub, qrls, qstat, qacct, qdel. See docs/format/launcher.md.

Called as submit, release, status, cancel or capacity. The environment may name
  AMDAHL_GE_PE    the parallel environment for jobs of several CPUs (default: smp)
  AMDAHL_GE_GPU   the complex that counts accelerators of a job (default: none)
  AMDAHL_GE_OPTS  more options for qsub, split at blanks (-q long.q -p -100)
"""
import base64
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.realpath(__file__))
PE = os.environ.get("AMDAHL_GE_PE", "smp")
GPU = os.environ.get("AMDAHL_GE_GPU", "")
OPTS = os.environ.get("AMDAHL_GE_OPTS", "").split()
# qsub says so before it has asked the master to take the job.
REFUSALS = ("denied", "unknown", "does not exist", "not permitted", "invalid", "ERROR!")


def call(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.strip()


def must(*words):
    code, out, err = call(*words)
    if code != 0:
        sys.exit(f"{words[0]}: exit {code}: {err or out.strip()}")
    return out


def in_queue():
    """Our jobs that the master knows, by name; of several with one name the first."""
    jobs = {}
    for row in xml.fromstring(must("qstat", "-xml", "-r")).iter("job_list"):
        name = row.findtext("full_job_name") or row.findtext("JB_name")
        job = {"id": row.findtext("JB_job_number"), "state": row.findtext("state")}
        jobs.setdefault(name, []).append(job)
    return jobs


def ended(name):
    """What accounting has of the job that ran, or else of one that did not; None if nothing."""
    code, out, err = call("qacct", "-j", name)
    if code != 0:
        if "not found" in err or "no jobs running" in out or "No such file" in err:
            return None
        sys.exit(f"qacct: exit {code}: {err}")
    best = None
    for block in out.split("=" * 62)[1:]:
        row = dict(line.split(None, 1) for line in block.splitlines() if len(line.split()) > 1)
        if best is None or row["start_time"].strip() != "-/-":
            best = row
    return best


def submit(runs):
    known = in_queue()
    for run in runs:
        name = run["name"]
        if name in known or ended(name):
            yield {"name": name, "answer": "accepted",
                   "id": known[name][0]["id"] if name in known else ended(name)["jobnumber"].strip()}
            continue
        # The command goes as one word that no shell and no line end can change.
        packed = base64.b64encode(json.dumps(run["command"]).encode()).decode()
        words = ["qsub", "-terse", "-h", "-r", "n", "-notify", "-b", "y", "-shell", "n", "-N", name,
                 "-A", f"amdahl.{run['accelerators']}", "-j", "y", "-o", run["log"],
                 "-l", f"h_rt={int(run['time_limit_s']) + 60}"]
        if run["cpus"] > 1:
            words += ["-pe", PE, str(run["cpus"])]
        if GPU:
            words += ["-l", f"{GPU}={run['accelerators']}"]
        code, out, err = call(*words, *OPTS, "/usr/bin/python3", os.path.join(HERE, "job.py"), packed)
        if code == 0 and out.strip().isdigit():
            yield {"name": name, "answer": "accepted", "id": out.strip()}
        else:
            refused = any(word in err for word in REFUSALS)
            yield {"name": name, "answer": "refused" if refused else "unknown", "reason": err or out}


def release(runs):
    known = in_queue()
    for run in runs:
        jobs = known.get(run["name"], [])
        held = [job for job in jobs if "h" in job["state"]]
        # A submission whose answer was lost may have been repeated: one of them is enough.
        for job in jobs[1:]:
            must("qdel", job["id"])
        if held and held[0] is jobs[0]:
            must("qrls", held[0]["id"])
        there = jobs or ended(run["name"])
        yield {"name": run["name"], "answer": "ok" if there else "failed",
               "reason": "" if there else "Grid Engine does not show it"}


def status(runs):
    known = in_queue()
    for run in runs:
        name = run["name"]
        if name in known:
            job = known[name][0]
            state = job["state"]
            if "E" in state:
                yield {"name": name, "answer": "held", "id": job["id"], "reason": f"state {state}"}
            elif "q" in state:
                yield {"name": name, "answer": "held" if "h" in state else "queued", "id": job["id"]}
            else:
                yield {"name": name, "answer": "running", "id": job["id"]}
            continue
        row = ended(name)
        if row is None:
            yield {"name": name, "answer": "absent"}
            continue
        failed = row["failed"].split()[0]
        started = row["start_time"].strip() != "-/-"
        yield {"name": name, "id": row["jobnumber"].strip(),
               # 19, 21, 22, 24, 25: lost with its host, or rescheduled.
               "answer": "node failed" if failed in ("19", "21", "22", "24", "25") else "ended",
               "reason": f"failed {row['failed'].strip()}, exit {row['exit_status'].strip()}",
               "charge": {"wall_s": float(row["ru_wallclock"].rstrip("s \n")) if started else 0,
                          "accelerators": int(row["account"].rsplit(".", 1)[1]),
                          "cpus": int(row["slots"])}}


def cancel(runs):
    known = in_queue()
    for run in runs:
        for job in known.get(run["name"], []):
            # With -notify the job gets SIGUSR2, which job.py turns into SIGTERM, before SIGKILL.
            call("qdel", *(["-f"] if run["at_once"] else []), job["id"])
        yield {"name": run["name"], "answer": "ok"}


def capacity(need):
    free = total = 0
    for queue in xml.fromstring(must("qstat", "-g", "c", "-xml")).iter("cluster_queue_summary"):
        free += int(queue.findtext("available"))
        total += int(queue.findtext("total"))
    never = f"it needs {need['cpus']} slots, and there are {total}" if need["cpus"] > total else ""
    waiting = sum(job["state"] == "qw" for name, jobs in in_queue().items() for job in jobs
                  if name.startswith("amdahl-"))
    room = max(free // need["cpus"] - waiting, 1 - waiting, 0)
    return {"room": 0 if never else room, "waiting": waiting, "never": never,
            "hardware": " ".join(["gridengine"] + ([GPU] if GPU else []) + OPTS)}


def main():
    verb = os.path.basename(sys.argv[0])
    question = json.load(sys.stdin)
    if verb == "capacity":
        print(json.dumps(capacity(question)))
    else:
        print(json.dumps({"answers": list(globals()[verb](question["runs"]))}))


main()
