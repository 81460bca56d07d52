// kineto.h: reads traces of the PyTorch Profiler (Kineto's Chrome JSON) of any size.
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::kineto {

bool claims(std::string_view head);

// One pass: this thread splits the stream into 1 MiB pieces and merges their rows in order;
// `limits.threads` others parse. Memory: a few pieces, and the rows. What is kept and what is
// dropped: docs/format/trace-kineto.md.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::kineto
