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

constexpr double kMiB = 1024.0 * 1024;

constexpr auto kBeside = std::to_array<BesideMetric>({
    {"DCGM_FI_DEV_POWER_USAGE", Beside::kPower, 1},
    {"nvidia_gpu_power_usage_milliwatts", Beside::kPower, 1e-3},
    {"nvidia_smi_power_draw_watts", Beside::kPower, 1},
    {"gpu_package_power", Beside::kPower, 1},
    {"amd_gpu_package_power", Beside::kPower, 1},
    {"power.draw", Beside::kPower, 1},
    {"acc_power", Beside::kPower, 1},
    {"DCGM_FI_DEV_FB_USED", Beside::kMemory, kMiB},
    {"nvidia_gpu_memory_used_bytes", Beside::kMemory, 1},
    {"nvidia_smi_memory_used_bytes", Beside::kMemory, 1},
    {"gpu_used_vram", Beside::kMemory, kMiB},
    {"amd_gpu_used_vram", Beside::kMemory, kMiB},
    {"memory.used", Beside::kMemory, kMiB},
    {"acc_mem_used", Beside::kMemory, 1e9},
});

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower(a) == lower(b);
}

template <class Row>
const Row* find(std::span<const Row> rows, std::string_view name) {
  if (const std::size_t unit = name.find('['); unit != name.npos) name = name.substr(0, unit);
  name = trim(name);
  for (const Row& row : rows) {
    if (same(row.name, name)) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const UsageMetric> usage_metrics() { return kMetrics; }

const UsageMetric* find_usage_metric(std::string_view name) {
  return find(std::span<const UsageMetric>(kMetrics), name);
}

std::span<const BesideMetric> beside_metrics() { return kBeside; }

const BesideMetric* find_beside_metric(std::string_view name) {
  return find(std::span<const BesideMetric>(kBeside), name);
}

}  // namespace amdahl::fleet
