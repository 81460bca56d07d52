// advice.h: what to try against a cause found in a profile or a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/profile.h"
#include "profile/why.h"

namespace amdahl::profile {

// The framework whose terms the advice uses.
enum class Framework : std::uint8_t {
  kTorch,   // Also the default.
  kNative,  // A job without Python.
  kOpenCl,
  kCompiled,  // PyTorch, most of whose operators torch.compile made.
  kServer,    // vLLM or SGLang.
  kJax,
};

// From the traced calls, and whether the hook ran in a Python process of the job.
Framework framework_of_job(const std::map<std::string, double>& evidence);
// The same for traces, which have no hook.
Framework framework_of_trace(const std::map<std::string, double>& evidence);

// Evidence: number of OpenCL calls in a trace without PyTorch operators.
inline constexpr const char* kOpenClCalls = "trace.opencl_calls";
// Evidence: calls of compiled functions, if most of the operators' time is within them; steps of
// an inference server; sources that JAX wrote; kernels of a trace that shows neither operators,
// Python, nor kernels of PyTorch.
inline constexpr const char* kCompiledCalls = "trace.compiled_calls";
inline constexpr const char* kServerSteps = "trace.server_steps";
inline constexpr const char* kJaxSources = "trace.jax_sources";
inline constexpr const char* kNativeKernels = "trace.native_kernels";

// One line for every cause; empty for compute, which is not waiting.
std::string_view what_to_try(const model::Cause& cause, Framework framework);

// The same for a reason found in a trace.
std::string_view what_to_try(Why why, Framework framework);

// The bottleneck class of an evidence name ("input_wait_share"); kUnknown if it has none.
model::Bottleneck class_of(std::string_view evidence);

}  // namespace amdahl::profile
