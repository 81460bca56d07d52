"""Builds the hook's report from what it saw."""
import os
import sys

_OPS = 40  # Operators listed.
STEADY = 1.25  # Steps whose lengths differ by less are alike.


def summary(durations):
    ordered = sorted(durations)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return [round(value, 6) for value in (sum(ordered) / len(ordered), at(0.5), at(0.95))]


def warmup(durations):
    """Extra time of the first steps: compilation, caches, lazy initialisation."""
    usual = sorted(durations)[len(durations) // 2]
    extra = 0.0
    for duration in durations:
        if duration <= STEADY * usual:
            break
        extra += duration - usual
    return round(extra, 6)


def uncompiled_modules():
    """Modules without cached bytecode: the next start compiles them again."""
    count = 0
    ours = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
    for module in list(sys.modules.values()):
        cached = getattr(getattr(module, "__spec__", None), "cached", None)
        if cached and not cached.startswith(ours) and not os.path.exists(cached):
            count += 1
    return count


def makers(places):
    names = "file", "line", "function"
    return [dict(zip(names, place), phase="loader", seconds=0.0) for place in sorted(places)]


def describe_loader(iterator):
    sampler = getattr(iterator, "_index_sampler", None)
    workers = getattr(iterator, "_num_workers", None)
    length = None
    try:
        if getattr(iterator, "_dataset_kind", 0) == 0:  # A stream may have a length, but no items.
            length = len(iterator._dataset)
    except Exception:
        pass
    return {
        "batch_size": getattr(sampler, "batch_size", None),
        "num_workers": workers,
        "prefetch_factor": getattr(iterator, "_prefetch_factor", None) if workers else None,
        "pin_memory": bool(getattr(iterator, "_pin_memory", False)),
        "persistent_workers": bool(getattr(iterator, "_persistent_workers", False)),
        "dataset_len": length,
    }


def count_forwards(torch, hook):
    """Counts in which mode modules run while the window is open."""
    from torch.nn.modules.module import register_module_forward_pre_hook

    def count(module, inputs):
        hook.grad[0] += 1
        hook.grad[1] += torch.is_grad_enabled()
        hook.grad[2] += torch.is_inference_mode_enabled()

    return register_module_forward_pre_hook(count)


def window_rows(result):
    """The window with its operators, by their own CPU time."""
    profiler = result.pop("profiler", None)
    result["wall_s"] = round(result["wall_s"], 6)
    if profiler is None:
        return result
    try:
        rows = _operators(profiler)
    except Exception:
        return result
    result["op_calls"] = sum(row[1] for row in rows)
    result["op_s"] = round(sum(row[2] for row in rows), 6)
    result["scalar_syncs"] = sum(row[1] for row in rows if row[0] == "aten::_local_scalar_dense")
    rows.sort(key=lambda row: -row[2])
    result["ops"] = [
        {"name": name, "calls": calls, "self_cpu_s": round(seconds, 6)}
        for name, calls, seconds in rows[:_OPS]
    ]
    return result


def _operators(profiler):
    """Name, calls and own seconds of each operator. Ten times faster than torch's key_averages()."""
    sums = {}
    waiting = list(profiler.profiler.kineto_results.experimental_event_tree())
    while waiting:
        event = waiting.pop()
        children = event.children
        waiting.extend(children)
        name = event.name
        # User ranges around operators are not operators.
        if "::" not in name and not name.endswith("Backward0"):
            continue
        row = sums.setdefault(name, [0, 0])
        if len(children) != 1 or children[0].name != name:  # Else it is one call, dispatched again.
            row[0] += 1
        thread = event.start_tid
        row[1] += event.duration_time_ns
        row[1] -= sum(child.duration_time_ns for child in children if child.start_tid == thread)
    # Concurrent work can take longer than the operator.
    return [(name, calls, max(0, own) / 1e9) for name, (calls, own) in sums.items()]
