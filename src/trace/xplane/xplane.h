// xplane.h: reads XPlane files of XLA, JAX and TensorFlow (docs/format/trace-xplane.md).
#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace::xplane {

// A protocol buffer whose first plane has the name of a host or device.
bool claims(std::string_view head);

// Kernels and copies of GPUs by stream, operations of TPUs, calls, ranges and Python functions of
// host threads, and steps. The file is held in memory; more than the limit is refused.
Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder);

}  // namespace amdahl::trace::xplane
