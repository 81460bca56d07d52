// operations.h: timelines of a job's own operations, for many ranks and steps (Chrome JSON).
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::operations {

// Chrome events that say their step and micro-batch, as a trainer's own timers write them.
bool claims(std::string_view head);

// Reads in one pass. Memory: a few megabytes, and the rows. What is kept and what is dropped:
// docs/format/trace-operations.md.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::operations
