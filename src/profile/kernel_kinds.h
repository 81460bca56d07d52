// kernel_kinds.h: classifies kernels by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::profile {

// Names are written to JSON: never rename or reuse one.
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

// Short name of a kernel: its function without arguments and "void"; for CUTLASS, whose functions
// are all named Kernel, the first template argument.
std::string kernel_title(std::string_view kernel);

// Decided by the function name; if that is inconclusive, by its template arguments (CUTLASS).
KernelKind kernel_kind(std::string_view kernel);

}  // namespace amdahl::profile
