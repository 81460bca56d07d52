// metrics.h: the metrics that say how busy an accelerator is: their units and which is believed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace amdahl::fleet {

// The metric before jobstats 0.2.2 whose value, not whose label, is the job. Where a source gives
// its samples, they are labelled with that job; their values say nothing.
inline constexpr std::string_view kJobByValue = "nvidia_gpu_jobId";

struct UsageMetric {
  std::string_view name;  // As exporters, programs and archives call it.
  double whole = 1;       // The value of a fully busy accelerator: 1 or 100.
  // Of several metrics of one accelerator the lowest is used. 0: share of the SMs that had work
  // (SM_ACTIVE), 1: the engine had work (GR_ENGINE_ACTIVE), 2: some kernel ran (GPU_UTIL), which
  // overstates productive time by 25 to 31 points on real fleets.
  int rank = 2;
};

std::span<const UsageMetric> usage_metrics();

// Null if the name is none of them. Case does not matter, nor does a unit: "utilization.gpu [%]".
const UsageMetric* find_usage_metric(std::string_view name);

}  // namespace amdahl::fleet
