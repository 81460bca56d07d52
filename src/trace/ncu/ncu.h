// ncu.h: reads Nsight Compute's --csv output: details, raw and summary pages.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::ncu {

bool claims(std::string_view head);

// Metrics go to Trace::kernel_metrics, advice of its rules to Trace::kernel_advice. Output of the
// program itself between the rows is ignored (docs/format/trace-ncu.md).
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::ncu
