// perf.h: what perf script prints, of samples and of the scheduler's events.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::perf {

bool claims(std::string_view head);

// Samples (cpu-clock, cycles, page-faults, any other event) become stack samples, sched_switch with
// sched_waking or sched_wakeup states of threads. What a thread is blocked in is told by the
// kernel's part of the stack at the switch, where it was recorded (-g). Times are perf's own, from
// an origin of its own.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::perf
