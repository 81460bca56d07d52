// ncu.h: what Nsight Compute prints with --csv: the details, raw and summary pages.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::ncu {

bool claims(std::string_view head);

// Metrics go into Trace::kernel_metrics, what the rules advise into Trace::kernel_advice. What the
// program itself printed between the rows is passed over (docs/format/trace-ncu.md).
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::ncu
