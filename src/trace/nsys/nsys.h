// nsys.h: reads SQLite exports of Nsight Systems, all schemas since 2021.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::nsys {

// Claims any SQLite file: only its tables show whether it is an export.
bool claims(std::string_view head);

// If the input has a path, it is read in place, page by page, at any size, and nothing is written
// next to it; else its bytes are loaded into memory, within the limit. Tables and columns that a
// version lacks are skipped (docs/format/trace-nsys.md).
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::nsys
