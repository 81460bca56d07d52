"""Writes the profiled window as a trace in Kineto's format, for any build of torch."""
import os

_CATEGORIES = {
    "TorchOp": "cpu_op",
    "Backend": "cpu_op",
    "PyCall": "python_function",
    "PyCCall": "python_function",
}
_USER_SCOPE = 7  # RecordScope::USER_SCOPE: a range that the job marked.


def file_name(pid):
    """Ranks of several nodes write into one folder, and each node numbers its own processes."""
    node = os.environ.get("SLURM_NODEID", "") if "AMDAHL_RANKS" in os.environ else ""
    return "torch-%s%d.pt.trace.json" % (node + "-" if node.isdigit() else "", pid)


def write(profiler, path, rank, world_size):
    """Writes `path` atomically; True on success. Uses torch's own export if it has all the data."""
    import json

    import torch

    beside = "%s.part" % path
    if torch.profiler.kineto_available():
        profiler.export_chrome_trace(beside)
    else:
        with open(beside, "w", encoding="utf-8") as file:
            # In one call: the iterative encoder is pure Python and three times slower.
            file.write(json.dumps(_document(profiler.profiler.kineto_results, rank, world_size)))
    os.replace(beside, path)
    return True


def _document(results, rank, world_size):
    import socket

    base = results.trace_start_us() * 1000
    scopes = {(event.name(), event.start_us()): event.scope() for event in results.events()}
    pid = os.getpid()
    events = []
    waiting = list(results.experimental_event_tree())
    while waiting:
        event = waiting.pop()
        waiting.extend(event.children)
        category = _CATEGORIES.get(event.tag.name)
        if category is None:
            continue
        if scopes.get((event.name, event.start_time_ns // 1000)) == _USER_SCOPE:
            category = "user_annotation"
        events.append(
            {
                "ph": "X",
                "cat": category,
                "name": event.name,
                "pid": pid,
                "tid": event.start_tid,
                "ts": (event.start_time_ns - base) / 1000,
                "dur": max(0, event.duration_time_ns) / 1000,
                "args": {"External id": len(events) + 1},
            }
        )
    events.sort(key=lambda event: (event["tid"], event["ts"], -event["dur"]))
    document = {
        "schemaVersion": 1,
        "deviceProperties": [],
        "host_name": socket.gethostname(),
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base,
        "traceEvents": events,
    }
    if rank is not None:
        document["distributedInfo"] = {"rank": rank, "world_size": world_size or 1}
    return document
