// perf.h: reads the output of perf script: samples and scheduler events.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::perf {

bool claims(std::string_view head);

// Samples (cpu-clock, cycles, page-faults, any other event) become stack samples; sched_switch
// with sched_waking or sched_wakeup become thread states. The reason of a block comes from the
// kernel frames at the switch, if recorded (-g). Times have perf's own origin.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::perf
