// rocpd.h: reads databases of rocprofv3 (docs/format/trace-rocpd.md).
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::rocpd {

// An SQLite file whose list of tables, as far as `head` has it, names those of rocpd.
bool claims(std::string_view head);

// Kernels, copies, calls of HIP and HSA, and marked ranges, of all processes in the file. Times
// are since boot. The file must be whole: SQLite does not read it in order.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::rocpd
