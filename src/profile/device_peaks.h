// device_peaks.h: what a device can do at most, from its vendor's data sheet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/trace.h"

namespace amdahl::profile {

// How numbers are multiplied. Names are written to JSON.
enum class Precision : std::uint8_t {
  kDouble,
  kSingle,
  kTensor32,  // TF32: single precision on tensor cores.
  kHalf,      // FP16 and BF16.
  kEighth,    // FP8 and INT8.
};
inline constexpr std::size_t kPrecisions = 5;

std::string_view name(Precision precision);  // "fp64", "fp32", "tf32", "fp16/bf16", "fp8/int8".

// FLOP/s without sparsity and bytes/s of the device's memory; 0: unknown, or not supported.
struct DevicePeaks {
  std::array<double, kPrecisions> flops{};
  double bytes = 0;

  double of(Precision precision) const { return flops[static_cast<std::size_t>(precision)]; }
};

// By the name of the device, and by its memory where one name has several bandwidths. All 0 for a
// device that is not in the table.
DevicePeaks device_peaks(const model::Trace& trace, const model::TraceDevice& device);

}  // namespace amdahl::profile
