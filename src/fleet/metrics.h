// metrics.h: metrics of accelerators: their units, and which one of utilisation takes precedence.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace amdahl::fleet {

// Metric of jobstats before 0.2.2 whose value, not label, is the job id. A source labels its
// samples with that job; the values have no other meaning.
inline constexpr std::string_view kJobByValue = "nvidia_gpu_jobId";

struct UsageMetric {
  std::string_view name;  // As in exporters, programs and archives.
  double whole = 1;       // Value of a fully busy accelerator: 1 or 100.
  // The metric with the lowest rank is used. 0: share of busy SMs (SM_ACTIVE); 1: the engine was
  // busy (GR_ENGINE_ACTIVE); 2: some kernel ran (GPU_UTIL), which overstates productive time by 25
  // to 31 points on real fleets.
  int rank = 2;
};

std::span<const UsageMetric> usage_metrics();

// Null if unknown. Ignores case and a unit: "utilization.gpu [%]".
const UsageMetric* find_usage_metric(std::string_view name);

// What is measured beside utilisation.
enum class Beside : std::uint8_t { kPower, kMemory };

struct BesideMetric {
  std::string_view name;
  Beside of = Beside::kPower;
  double unit = 1;  // In watts, or bytes of memory in use.
};

std::span<const BesideMetric> beside_metrics();

// As find_usage_metric.
const BesideMetric* find_beside_metric(std::string_view name);

}  // namespace amdahl::fleet
