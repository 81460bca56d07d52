// bpf.h: records of our own collector of waits (docs/format/bpf.md) as states of threads.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::bpf {

bool claims(std::string_view head);

// Single waits become blocked and runnable spans, and what is between them running ones; sums
// become totals with the stacks that waited. Times are Unix time. A record that was cut off keeps
// its spans.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::bpf
