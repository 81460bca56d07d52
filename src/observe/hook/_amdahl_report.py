"""What the hook saw, in the words of its report."""

_OPS = 40  # Operators listed.
STEADY = 1.25  # Steps whose lengths differ by less are alike.


def summary(durations):
    ordered = sorted(durations)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    return [round(value, 6) for value in (sum(ordered) / len(ordered), at(0.5), at(0.95))]


def warmup(durations):
    """What the first steps took beyond a usual one: compilation, caches, lazy initialisation."""
    usual = sorted(durations)[len(durations) // 2]
    extra = 0.0
    for duration in durations:
        if duration <= STEADY * usual:
            break
        extra += duration - usual
    return round(extra, 6)


def describe_loader(iterator):
    sampler = getattr(iterator, "_index_sampler", None)
    workers = getattr(iterator, "_num_workers", None)
    try:
        length = len(iterator._dataset)
    except Exception:
        length = None
    return {
        "batch_size": getattr(sampler, "batch_size", None),
        "num_workers": workers,
        "prefetch_factor": getattr(iterator, "_prefetch_factor", None) if workers else None,
        "pin_memory": bool(getattr(iterator, "_pin_memory", False)),
        "persistent_workers": bool(getattr(iterator, "_persistent_workers", False)),
        "dataset_len": length,
    }


def count_forwards(torch, hook):
    """Counts, while the window is open, under which mode the modules run."""
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
        inner = profiler.profiler
        del inner._parse_kineto_results
        if not inner.function_events and getattr(inner, "kineto_results", None) is not None:
            from torch.autograd.profiler_util import EventList

            events = EventList(inner._parse_kineto_results(inner.kineto_results))
            events._build_tree()
            inner.function_events = events
        rows = [
            # What goes on beside an operator can take longer than it.
            (row.key, row.count, max(0.0, row.self_cpu_time_total / 1e6))
            for row in profiler.key_averages()
            # Ranges that others drew around operators are no operators.
            if "::" in row.key or row.key.endswith("Backward0")
        ]
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
