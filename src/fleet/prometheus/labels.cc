#include "fleet/prometheus/labels.h"

#include <array>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/values.h"

namespace amdahl::fleet::prometheus {
namespace {

constexpr auto kMetrics = std::to_array<Metric>({
    {"DCGM_FI_PROF_SM_ACTIVE", "dcgm", "Hostname"},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "dcgm", "Hostname"},
    {"DCGM_FI_DEV_GPU_UTIL", "dcgm", "Hostname"},
    {"sm_active_ratio", "dynolog", "instance"},
    {"graphics_engine_active_ratio", "dynolog", "instance"},
    {"gpu_device_utilization", "dynolog", "instance"},
    {"nvidia_gpu_duty_cycle", "jobstats", "instance"},
    {"gpu_gfx_activity", "amd", "hostname"},
    {"GPU_GFX_ACTIVITY", "amd", "hostname"},
    {"amd_gpu_gfx_activity", "amd", "hostname"},
    {"slurm_job_utilization_gpu", "slurm-job-exporter", "instance"},
    {"nvidia_smi_utilization_gpu_ratio", "nvidia_gpu_exporter", "instance"},
});

constexpr auto kHosts = std::to_array<std::string_view>(
    {"Hostname", "hostname", "host", "node", "nodename", "kubernetes_node", "instance"});
constexpr auto kDevices =
    std::to_array<std::string_view>({"gpu", "gpu_id", "minor_number", "gpu_index", "index"});
constexpr auto kUuids = std::to_array<std::string_view>({"UUID", "uuid", "gpu_uuid"});
constexpr auto kJobs = std::to_array<std::string_view>(
    {"hpc_job", "jobid", "job_id", "slurmjobid", "slurm_job_id", "slurm_jobid", kJobFromValue});
constexpr auto kUsers = std::to_array<std::string_view>({"username", "job_user", "user", "userid"});
constexpr auto kAccounts = std::to_array<std::string_view>({"slurm_account", "account"});
constexpr auto kPartitions = std::to_array<std::string_view>({"job_partition", "partition"});
constexpr auto kKinds =
    std::to_array<std::string_view>({"modelName", "card_series", "card_model", "gpu_type", "name"});

std::string_view first_of(const Labels& labels, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string_view value = find(labels, name);
    if (!value.empty()) return value;
  }
  return {};
}

// The exporter's own pod is no host, if something else is.
std::string_view host_of(const Labels& labels) {
  std::string_view host = first_of(labels, kHosts);
  if (!host.starts_with("dcgm-exporter") && !host.starts_with("nvidia-dcgm")) return host;
  for (const std::string_view name : kHosts) {
    const std::string_view other = find(labels, name);
    if (!other.empty() && other != host && name != "instance") return other;
  }
  return host;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// "nvidia3" and "vm17.gpu.3" speak of the accelerator "3".
std::string_view index_in(std::string_view text) {
  const auto last = text.find_last_not_of("0123456789");
  const std::string_view digits = last == text.npos ? text : text.substr(last + 1);
  return digits.empty() ? text : digits;
}

std::string_view device_of(const Labels& labels) {
  const std::string_view plain = first_of(labels, kDevices);
  if (is_digits(plain)) return plain;
  const std::string_view entity = find(labels, "entity");
  if (!entity.empty()) return index_in(entity);
  const std::string_view device = find(labels, "device");
  if (!device.empty()) return index_in(device);
  // slurm-job-exporter and others may put the UUID there.
  return plain.starts_with("GPU-") || plain.starts_with("MIG-") ? std::string_view{} : plain;
}

std::string_view slice_of(const Labels& labels, std::string_view uuid) {
  const std::string_view instance = find(labels, "GPU_I_ID");
  if (!instance.empty()) return instance;
  if (uuid.starts_with("MIG-")) return uuid;
  const std::string_view mode = find(labels, "gpu_compute_partition_type");
  const bool whole = mode.empty() || mode == "spx" || mode == "SPX";
  return whole ? std::string_view{} : find(labels, "gpu_partition_id");
}

bool is_of_exporter(std::string_view name) {
  return name.find("exporter") != name.npos || name.find("dcgm") != name.npos;
}

// In Kubernetes dcgm-exporter names the pod that has the accelerator; where Prometheus puts the
// exporter's own pod there, as "exported_pod".
std::string_view pod_of(const Labels& labels) {
  for (const auto& [key, value] : labels) {
    if (key == "exported_pod") return value;
  }
  const std::string_view pod = find(labels, "pod");
  const bool is_dcgm = find(labels, "__name__").starts_with("DCGM_");
  return is_dcgm && !is_of_exporter(pod) ? pod : std::string_view();
}

// An idle accelerator is labelled with no job, or with number 0.
std::string_view job_of(const Labels& labels) {
  const std::string_view job = job_in(first_of(labels, kJobs));
  return job.empty() ? job_in(pod_of(labels)) : job;
}

}  // namespace

std::string_view find(const Labels& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

bool read_labels(std::string_view text, Labels& labels) {
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return true;
    const std::size_t equals = text.find('=');
    if (equals == text.npos) return false;
    std::string_view name = trim(text.substr(0, equals));
    text = text.substr(equals + 1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!text.starts_with('"') || name.empty()) return false;
    std::string value;
    std::size_t i = 1;
    for (; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        ++i;
        value += text[i] == 'n' ? '\n' : text[i];
      } else {
        value += text[i];
      }
    }
    if (i >= text.size()) return false;
    labels.emplace_back(name, std::move(value));
    text.remove_prefix(i + 1);
  }
}

Subject subject_of(const Labels& labels, std::string_view metric) {
  Subject subject;
  model::SeriesKey& key = subject.key;
  key.host = short_host(host_of(labels));
  key.accelerator = device_of(labels);
  key.uuid = first_of(labels, kUuids);
  const std::string_view plain = first_of(labels, kDevices);
  const bool uuid_as_device = plain.starts_with("GPU-") || plain.starts_with("MIG-");
  if (key.uuid.empty() && uuid_as_device) key.uuid = plain;
  key.slice = slice_of(labels, key.uuid);
  key.job = job_of(labels);
  key.metric = find(labels, "__name__");
  if (key.metric.empty()) key.metric = metric;
  key.kind = first_of(labels, kKinds);
  if (!key.slice.empty()) key.profile = find(labels, "GPU_I_PROFILE");
  subject.user = first_of(labels, kUsers);
  subject.account = first_of(labels, kAccounts);
  if (subject.account.empty() && !key.job.empty() && key.job == pod_of(labels)) {
    const std::string_view exported = find(labels, "exported_namespace");
    subject.account = exported.empty() ? find(labels, "namespace") : exported;
  }
  subject.partition = first_of(labels, kPartitions);
  subject.bus = find(labels, "pci_bus_id");
  return subject;
}

std::span<const Metric> metrics() { return kMetrics; }

}  // namespace amdahl::fleet::prometheus
