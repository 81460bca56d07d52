// bpf.h: reads our own wait records (docs/format/bpf.md) as thread states.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::bpf {

bool claims(std::string_view head);

// Single waits become blocked and runnable spans, the gaps between them running spans. Totals keep
// their stacks. Times are Unix time. A truncated record keeps its spans.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::bpf
