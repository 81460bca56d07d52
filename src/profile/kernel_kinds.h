// kernel_kinds.h: what kind of work a kernel does, by its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::profile {

// Names are written to JSON: never renamed, never reused.
enum class KernelKind : std::uint8_t {
  kGemm,
  kAttention,
  kConvolution,
  kNormalisation,
  kSoftmax,
  kElementwise,
  kReduction,
  kMoe,
  kEmbedding,  // Look-ups, gathers, scatters, sorts.
  kOptimizer,
  kCopy,  // Copies and sets, by kernels or copy engines.
  kCommunication,
  kOther,
};
inline constexpr std::size_t kKernelKinds = 13;

std::string_view name(KernelKind kind);  // "gemm", "attention", ...
constexpr std::size_t at(KernelKind kind) { return static_cast<std::size_t>(kind); }

// What people know a kernel by: its function without arguments and "void"; of CUTLASS, whose
// functions are all called Kernel, the first template argument.
std::string kernel_title(std::string_view kernel);

// The function's own name decides; if it says nothing, its template arguments do (CUTLASS).
KernelKind kernel_kind(std::string_view kernel);

}  // namespace amdahl::profile
