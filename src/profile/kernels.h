// kernels.h: what Nsight Compute measured of kernels into what bounds them and what that could
// gain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

enum class KernelBound : std::uint8_t {
  kMemory,   // Memory is used far more than the arithmetic units.
  kCompute,  // The other way round.
  kBoth,     // Both are used well.
  kLatency,  // Neither is: too little work, or it waits for itself.
  kUnknown,  // It was not measured.
};

std::string_view name(KernelBound bound);  // "memory", "compute", "both", "latency", "unknown".

// Above this share of the peak a unit is used well, as Nsight's own rule has it; and below the
// second, too few warps are there to hide what a kernel waits for.
inline constexpr double kWellUsedPercent = 60;
inline constexpr double kLowOccupancyPercent = 40;

struct KernelHint {
  std::string rule;  // "UncoalescedGlobalAccess".
  std::string text;
  double percent = 0;  // Estimated; 0: none given.
  bool global = false;
};

// Of all launches of one kernel: means, weighted by their time where that is known.
struct KernelFacts {
  std::string kernel;
  std::uint64_t launches = 0;
  Nanos time{};  // Under the profiler, which fixes the clocks: to weigh by, not to report.
  std::optional<double> memory_percent;     // Of the peak throughput.
  std::optional<double> compute_percent;    // Of the peak throughput.
  std::optional<double> occupancy_percent;  // Achieved.
  KernelBound bound = KernelBound::kUnknown;
  bool low_occupancy = false;
  // How much faster the kernel could be: of Nsight's estimates for the whole kernel the largest,
  // which is a decrease of its run time; they do not add. 1 if it gave none.
  double ceiling = 1;
  bool is_estimated = false;      // Whether it gave one.
  std::vector<KernelHint> hints;  // Most promising first, those for the whole kernel before others.
  std::string because;            // One sentence with the numbers in it.

  // In the job's own trace, if one was read as well.
  Nanos in_trace{};          // Sum over its events of that name.
  double share_of_busy = 0;  // Of all devices' kernel, copy and set time.
  double job_ceiling = 1;    // Speed-up of that time if the kernel reached its ceiling.
};

// By time in the trace, else by time under the profiler. Names are joined without template and
// call arguments, because tools write them differently.
std::vector<KernelFacts> kernel_facts(const model::Trace& trace);

}  // namespace amdahl::profile
