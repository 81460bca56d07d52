// kernel_table.h: what the devices of a trace computed, by kind of work and by kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "profile/kernel_kinds.h"
#include "profile/roofline.h"

namespace amdahl::profile {

// Times are sums over events; events of different streams may overlap.
struct KernelRow {
  std::string name;  // Without arguments; see kernel_title().
  KernelKind kind = KernelKind::kOther;
  std::uint64_t launches = 0;
  Nanos time{};
  Roofline work;                    // Of the launches whose work is known.
  std::optional<double> occupancy;  // 0 to 1, as the trace estimates it; mean over time.
  // As Nsight Compute measured it, if it did; shares of peaks.
  std::optional<double> measured_compute;
  std::optional<double> measured_memory;
};

struct KernelKindRow {
  KernelKind kind = KernelKind::kOther;
  std::uint64_t launches = 0;
  Nanos time{};
  double share = 0;     // Of the time of all kernels, copies and sets.
  std::string largest;  // Its kernel with the most time.
  Roofline work;
};

// Whether the work of enough of its time is known to show a rate.
inline bool is_told(const KernelKindRow& row) { return 10 * row.work.time >= row.time; }

// Advice drawn from names and durations of kernels.
struct KernelAdvice {
  std::string_view id = "";  // For programs: "kernels.fp32-gemm".
  std::string says;          // One sentence with the numbers.
  double share = 0;          // Share of all kernel, copy and set time that it concerns.
};

struct KernelTable {
  Nanos time{};  // All events.
  std::uint64_t launches = 0;
  std::vector<KernelKindRow> kinds;  // Most time first.
  std::vector<KernelRow> kernels;    // All, most time first.
  std::vector<KernelAdvice> advice;  // Largest share first.
  Roofline work;                     // Of all kernels and copies.
  // FLOPs known from shapes, as a share of what the devices could do from their first event to
  // their last at the precision used (MFU); nothing if no shapes or no peaks are known.
  std::optional<double> mfu;
  double shaped = 0;  // Share of GEMM, convolution and attention time whose FLOPs are known.
};

KernelTable kernel_table(const model::Trace& trace);

}  // namespace amdahl::profile
