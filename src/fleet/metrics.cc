#include "fleet/metrics.h"

#include <array>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

constexpr auto kMetrics = std::to_array<UsageMetric>({
    {"DCGM_FI_PROF_SM_ACTIVE", 1, 0},
    {"sm_active_ratio", 1, 0},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1, 1},
    {"graphics_engine_active_ratio", 1, 1},
    {"DCGM_FI_DEV_GPU_UTIL", 100, 2},
    {"gpu_device_utilization", 100, 2},
    {"nvidia_gpu_duty_cycle", 100, 2},
    {"gpu_gfx_activity", 100, 2},
    {"amd_gpu_gfx_activity", 100, 2},
    {"slurm_job_utilization_gpu", 100, 2},
    {"nvidia_smi_utilization_gpu_ratio", 1, 2},
    {"utilization.gpu", 100, 2},
    {"dmon sm", 100, 2},
    {"pmon sm", 100, 2},
    {"acc_utilization", 100, 2},
    {"gpu_utilization", 100, 2},
    {"gpu_util", 100, 2},
    {"utilization_percent", 100, 2},
    {"utilisation_percent", 100, 2},
    {"utilization", 1, 2},
    {"utilisation", 1, 2},
    {"CPU slot", 1, 2},
});

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower(a) == lower(b);
}

}  // namespace

std::span<const UsageMetric> usage_metrics() { return kMetrics; }

const UsageMetric* find_usage_metric(std::string_view name) {
  if (const std::size_t unit = name.find('['); unit != name.npos) name = name.substr(0, unit);
  name = trim(name);
  for (const UsageMetric& metric : kMetrics) {
    if (same(metric.name, name)) return &metric;
  }
  return nullptr;
}

}  // namespace amdahl::fleet
