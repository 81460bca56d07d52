// advice.h: what to try against a cause of a job's profile or of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/profile.h"
#include "profile/why.h"

namespace amdahl::profile {

// Whose words advice is in.
enum class Framework : std::uint8_t {
  kTorch,   // And where nothing tells.
  kNative,  // A job without Python.
  kOpenCl,
};

// By the calls that were traced, and whether the hook was in a Python of the job.
Framework framework_of_job(const std::map<std::string, double>& evidence);
// The same of traces, which have no hook.
Framework framework_of_trace(const std::map<std::string, double>& evidence);

// The number of calls of OpenCL, in the evidence of a trace without operators of PyTorch.
inline constexpr const char* kOpenClCalls = "trace.opencl_calls";

// One line for every cause; empty for compute, where waiting is not the matter.
std::string_view what_to_try(const model::Cause& cause, Framework framework);

// The same of a reason of a trace.
std::string_view what_to_try(Why why, Framework framework);

// The class of the cause that evidence stands for ("input_wait_share"); kUnknown if for none.
model::Bottleneck class_of(std::string_view evidence);

}  // namespace amdahl::profile
