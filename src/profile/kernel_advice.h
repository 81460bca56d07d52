// kernel_advice.h: what to do about the kernels of a trace, from what was seen of them.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/attention_shapes.h"
#include "profile/kernel_table.h"

namespace amdahl::profile {

// Times that speak for an advice, summed while the table is made.
struct KernelSigns {
  Nanos fp32{};       // Of GEMMs and convolutions in single precision without tensor cores.
  Nanos unfused{};    // Of elementwise kernels that no compiler made.
  Nanos relaid{};     // Of conversions between NCHW and NHWC.
  Nanos unaligned{};  // Of GEMMs and convolutions whose operands are not aligned.
  Nanos tiny{};       // Of kernels below kShortKernel.
  std::uint64_t tiny_launches = 0;
  Nanos sparse{};    // Of longer kernels with too few blocks for the device.
  Nanos migrated{};  // Of copies between host and device that page faults caused.
  // Of softmax kernels with a GEMM shortly before and behind them in their stream, but not of
  // those of a loss.
  Nanos softmax_between{};
  // The fastest of the devices: how much TF32 and FP16 gain over FP32 at the peak.
  double tensor32_gain = 0;
  double half_gain = 0;
  AttentionShapes attention;
};

// By the kernel's name; `is_single` if it multiplies in single precision.
void add_signs(KernelSigns& signs, std::string_view name, KernelKind kind, bool is_single,
               Nanos time);

// Largest share first. `table` without advice.
std::vector<KernelAdvice> kernel_advice(const KernelTable& table, const KernelSigns& signs);

}  // namespace amdahl::profile
