#!/usr/bin/python3
"""A launcher plug-in for Kubernetes through kubectl. See docs/format/launcher.md.

Called as submit, release, status, cancel or capacity. A run is a Job of one pod, created suspended
and found by its label. The environment names
  AMDAHL_K8S_TEMPLATE  a JSON file with the pod's template: image, volumes, nodeSelector (required)
  AMDAHL_K8S_QUEUE     Kueue's queue for the jobs (default: none; a release then unsuspends them)
  AMDAHL_K8S_GPU       the resource that counts accelerators (default: nvidia.com/gpu; "": none)
  AMDAHL_K8S_ROOM      jobs at once where nodes may not be listed (default: 4)
kubectl takes the cluster and the namespace from its own configuration (KUBECONFIG).
"""
import datetime
import hashlib
import json
import os
import subprocess
import sys

QUEUE = os.environ.get("AMDAHL_K8S_QUEUE", "")
GPU = os.environ.get("AMDAHL_K8S_GPU", "nvidia.com/gpu")
ROOM = int(os.environ.get("AMDAHL_K8S_ROOM", "4"))
OURS = "amdahl-loop"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# Why a pod was disrupted, if no job can bring it about. Kubelets also evict pods that use too much.
DISRUPTED = {"PreemptionByScheduler": "preempted", "PreemptionByKueue": "preempted",
             "DeletionByTaintManager": "node failed", "DeletionByPodGC": "node failed"}
# The API server's words for what it has certainly not taken.
REFUSALS = ("(Forbidden)", "(Invalid)", "(BadRequest)", "is invalid", "(NotFound)")


def call(*words, text=None):
    done = subprocess.run(("kubectl",) + words, input=text, capture_output=True, text=True,
                          timeout=60, check=False, stdin=subprocess.DEVNULL if text is None else None)
    return done.returncode, done.stdout, done.stderr.strip()


def must(*words, text=None):
    code, out, err = call(*words, text=text)
    if code != 0:
        sys.exit(f"kubectl {words[0]}: exit {code}: {err or out.strip()}")
    return out


def job_name(run):
    """The API server takes one Job of a name: a submission that is repeated finds the first."""
    return "amdahl-" + hashlib.sha256(run["name"].encode()).hexdigest()[:40]


def ours(kind):
    """Our jobs by name, or our pods by the name of their job."""
    found = {}
    for item in json.loads(must("get", kind, "-l", f"app={OURS}", "-o", "json"))["items"]:
        name = item["metadata"]["name"]
        found[name if kind == "jobs" else item["metadata"]["labels"].get("job-name", "")] = item
    return found


def manifest(run):
    with open(os.environ["AMDAHL_K8S_TEMPLATE"], encoding="utf-8") as file:
        template = json.load(file)
    name = job_name(run)
    template.setdefault("metadata", {}).setdefault("labels", {})["app"] = OURS
    pod = template.setdefault("spec", {})
    pod.setdefault("terminationGracePeriodSeconds", 60)
    pod["restartPolicy"] = "Never"
    container = pod.setdefault("containers", [{}])[0]
    container.setdefault("name", "job")
    container["command"] = run["command"]
    limits = container.setdefault("resources", {}).setdefault("limits", {})
    limits["cpu"] = str(run["cpus"])
    if "memory_mb" in run:
        limits["memory"] = f"{run['memory_mb']}M"
    if GPU:
        limits[GPU] = str(run["accelerators"])
    notes = {"amdahl/reservation": run["name"], "amdahl/accelerators": str(run["accelerators"]),
             "amdahl/cpus": str(run["cpus"])}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {"app": OURS}, "annotations": notes},
            "spec": {"suspend": True, "backoffLimit": 0, "completions": 1, "parallelism": 1,
                     "activeDeadlineSeconds": int(run["time_limit_s"]) + 60,
                     "ttlSecondsAfterFinished": 7 * 86400, "template": template}}


def submit(runs):
    for run in runs:
        code, out, err = call("create", "-f", "-", "-o", "json", "--validate=false",
                              text=json.dumps(manifest(run)))
        if code == 0:
            yield {"name": run["name"], "answer": "accepted", "id": json.loads(out)["metadata"]["uid"]}
        elif "(AlreadyExists)" in err:
            job = ours("jobs").get(job_name(run))
            yield {"name": run["name"], "answer": "accepted" if job else "unknown",
                   "id": job["metadata"]["uid"] if job else "", "reason": err}
        else:
            refused = any(word in err for word in REFUSALS)
            yield {"name": run["name"], "answer": "refused" if refused else "unknown", "reason": err}


def patch(name, change):
    return call("patch", "job", name, "--type=merge", "-p", json.dumps(change))


def release(runs):
    # Kueue unsuspends the jobs of its queues by itself.
    change = {"metadata": {"labels": {QUEUE_LABEL: QUEUE}}} if QUEUE else {"spec": {"suspend": False}}
    jobs = ours("jobs")
    for run in runs:
        job = jobs.get(job_name(run))
        if job and job["metadata"]["annotations"].get("amdahl/cancelled"):
            yield {"name": run["name"], "answer": "ok", "reason": "it was cancelled"}
            continue
        code, _, err = patch(job_name(run), change)
        yield {"name": run["name"], "answer": "ok" if code == 0 else "failed", "reason": err}


def condition(item, kind):
    for one in item.get("status", {}).get("conditions", []):
        if one["type"] == kind and one["status"] == "True":
            return one
    return None


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def container_end(pod):
    """How the pod's container ended; nothing while it runs."""
    for one in (pod or {}).get("status", {}).get("containerStatuses", []):
        if "terminated" in one.get("state", {}):
            return one["state"]["terminated"]
    return None


def charge(job, pod):
    notes = job["metadata"]["annotations"]
    began = notes.get("amdahl/began") or job["status"].get("startTime")
    over = condition(job, "Complete") or condition(job, "Failed") or condition(job, "Suspended")
    end = container_end(pod)
    wall = 0
    if end and end.get("startedAt") and end.get("finishedAt"):
        wall = seconds(end["finishedAt"]) - seconds(end["startedAt"])
    elif began and over:
        wall = seconds(over["lastTransitionTime"]) - seconds(began)
    return {"wall_s": max(0, wall), "accelerators": int(notes["amdahl/accelerators"]),
            "cpus": int(notes["amdahl/cpus"])}


def how_it_failed(job, pod):
    reason = condition(job, "Failed").get("reason", "")
    if reason == "DeadlineExceeded":
        return "timed out", reason
    disrupted = condition(pod, "DisruptionTarget") if pod else None
    if disrupted and disrupted.get("reason") in DISRUPTED:
        return DISRUPTED[disrupted["reason"]], disrupted["reason"]
    end = container_end(pod)
    if end and end.get("reason") == "OOMKilled":
        return "out of memory", "OOMKilled"
    return "ended", f"exit {end['exitCode']}" if end else reason


def state_of(job, pod):
    """The answer, and why."""
    if condition(job, "Complete"):
        return "ended", ""
    if condition(job, "Failed"):
        return how_it_failed(job, pod)
    waits = job["spec"].get("suspend", False)
    phase = (pod or {}).get("status", {}).get("phase", "")
    if job["metadata"]["annotations"].get("amdahl/cancelled"):
        return ("running" if phase == "Running" else "ended"), "cancelled"
    if waits:
        return ("queued" if QUEUE_LABEL in job["metadata"]["labels"] else "held"), ""
    return ("running" if phase == "Running" else "queued"), ""


def status(runs):
    jobs, pods = ours("jobs"), ours("pods")
    for run in runs:
        name = job_name(run)
        if name not in jobs:
            yield {"name": run["name"], "answer": "absent"}
            continue
        job, pod = jobs[name], pods.get(name)
        answer, reason = state_of(job, pod)
        told = {"name": run["name"], "answer": answer, "id": job["metadata"]["uid"], "reason": reason}
        if answer not in ("held", "queued", "running"):
            told["charge"] = charge(job, pod)
        yield told


def cancel(runs):
    jobs = ours("jobs")
    for run in runs:
        name = job_name(run)
        job = jobs.get(name)
        if job and not condition(job, "Complete") and not condition(job, "Failed"):
            # A suspended Job ends its pod with SIGTERM and stays, so that it can be charged.
            notes = {"amdahl/cancelled": "yes", "amdahl/began": job["status"].get("startTime")}
            code, _, err = patch(name, {"metadata": {"annotations": notes, "labels": {QUEUE_LABEL: None}},
                                        "spec": {"suspend": True}})
            if code != 0:
                yield {"name": run["name"], "answer": "failed", "reason": err}
                continue
            if run["at_once"]:
                call("delete", "pods", "-l", f"job-name={name}", "--grace-period=0", "--force")
        yield {"name": run["name"], "answer": "ok"}


def amount(text):
    """A quantity of Kubernetes as a number: 4, 1500m."""
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def capacity(need):
    waiting = sum(not item["spec"].get("suspend", False) and not item.get("status", {}).get("active")
                  and not condition(item, "Complete") and not condition(item, "Failed")
                  for item in ours("jobs").values())
    code, out, _ = call("get", "nodes", "-o", "json")
    nodes = json.loads(out)["items"] if code == 0 else []
    kinds, room, largest = set(), 0, 0
    free = {}
    for node in nodes:
        have = node["status"]["allocatable"]
        free[node["metadata"]["name"]] = [amount(have["cpu"]), amount(have.get(GPU, "0"))]
        kinds.add(node["metadata"].get("labels", {}).get("nvidia.com/gpu.product", "cpu"))
    asked = [need["cpus"], need["accelerators"] if GPU else 0]

    def fits(room_of):
        return int(min(have // want for have, want in zip(room_of, asked) if want))

    for room_of in free.values():
        largest = max(largest, fits(room_of))
    code, out, _ = call("get", "pods", "-A", "-o", "json",
                        "--field-selector=status.phase!=Succeeded,status.phase!=Failed")
    for pod in json.loads(out)["items"] if code == 0 else []:
        room_of = free.get(pod["spec"].get("nodeName"))
        for container in pod["spec"]["containers"] if room_of else []:
            wants = container.get("resources", {})
            wants = {**wants.get("limits", {}), **wants.get("requests", {})}
            room_of[0] -= amount(wants.get("cpu", "0"))
            room_of[1] -= amount(wants.get(GPU, "0"))
    if not nodes:
        return {"room": max(0, ROOM - waiting), "waiting": waiting, "never": "",
                "hardware": "kubernetes " + (QUEUE or "any node")}
    room = sum(max(0, fits(room_of)) for room_of in free.values())
    never = "" if largest else f"no node has {asked[0]} CPUs and {asked[1]} {GPU or 'accelerators'}"
    return {"room": max(0, room - waiting), "waiting": waiting, "never": never,
            "hardware": "kubernetes " + ", ".join(sorted(kinds))}


def main():
    verb = os.path.basename(sys.argv[0])
    if "AMDAHL_K8S_TEMPLATE" not in os.environ:
        sys.exit("AMDAHL_K8S_TEMPLATE must name a JSON file with the template of the pods")
    question = json.load(sys.stdin)
    if verb == "capacity":
        print(json.dumps(capacity(question)))
    else:
        print(json.dumps({"answers": list(globals()[verb](question["runs"]))}))


main()
