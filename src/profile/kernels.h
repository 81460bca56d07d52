// kernels.h: what limits each kernel according to Nsight Compute, and the possible gain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "profile/kernel_table.h"

namespace amdahl::profile {

enum class KernelBound : std::uint8_t {
  kMemory,   // Memory is used far more than the arithmetic units.
  kCompute,  // The other way round.
  kBoth,     // Both are used well.
  kLatency,  // Neither is used well: too little work, or latency.
  kUnknown,  // Not measured.
};

std::string_view name(KernelBound bound);  // "memory", "compute", "both", "latency", "unknown".

// Above this share of its peak a unit is used well, as in Nsight's own rule. Below the second,
// there are too few warps to hide latency.
inline constexpr double kWellUsedPercent = 60;
inline constexpr double kLowOccupancyPercent = 40;

struct KernelHint {
  std::string rule;  // "UncoalescedGlobalAccess".
  std::string text;
  double percent = 0;  // Estimated speed-up; 0: not given.
  bool global = false;
};

// Means over all launches of one kernel, weighted by time if known.
struct KernelFacts {
  std::string kernel;
  std::uint64_t launches = 0;
  Nanos time{};  // Under the profiler, which fixes the clocks: only for weighting.
  std::optional<double> memory_percent;     // Of the peak throughput.
  std::optional<double> compute_percent;    // Of the peak throughput.
  std::optional<double> occupancy_percent;  // Achieved.
  KernelBound bound = KernelBound::kUnknown;
  bool low_occupancy = false;
  // Possible speed-up of the kernel: the largest of Nsight's estimates for the whole kernel, which
  // do not add up. 1 if it gave none.
  double ceiling = 1;
  bool is_estimated = false;      // Nsight gave an estimate.
  std::vector<KernelHint> hints;  // Most promising first; those for the whole kernel before others.
  std::string because;            // One sentence with the numbers in it.

  // From the job's own trace, if one was read too.
  Nanos in_trace{};          // Sum over events with that name.
  double share_of_busy = 0;  // Of all devices' kernel, copy and set time.
  double job_ceiling = 1;    // Speed-up of that time if the kernel reached its ceiling.
};

// Ordered by time in the trace, else by time under the profiler. Names are matched without
// template and call arguments, because tools write them differently.
std::vector<KernelFacts> kernel_facts(const model::Trace& trace);

// Puts what was measured beside the kernels of the trace that have the same names.
void join_measured(const std::vector<KernelFacts>& facts, KernelTable& table);

}  // namespace amdahl::profile
