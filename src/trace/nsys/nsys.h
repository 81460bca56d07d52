// nsys.h: SQLite exports of Nsight Systems, of all schemas from 2021 on.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::nsys {

// Any SQLite file: whether it is an export shows only when its tables are looked at.
bool claims(std::string_view head);

// Where the input names a path it is read in place, page by page, whatever its size, and nothing
// is written beside it; else its bytes are taken into memory, within the limit. Tables and columns
// that a version lacks are passed over (docs/format/trace-nsys.md).
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::nsys
