#include "fleet/prometheus/labels.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fleet/metrics.h"

namespace amdahl::fleet::prometheus {
namespace {

std::string shown(const Subject& s) {
  return fmt::format("{}/{} {} slice={} job={} user={} account={} partition={} kind={} {}",
                     s.key.host, s.key.accelerator, s.key.uuid, s.key.slice, s.key.job, s.user,
                     s.account, s.partition, s.key.kind, s.key.metric);
}

// In Kubernetes jobs are pods.
TEST(Labels, PodsOfKubernetes) {
  const struct {
    const char* name;
    Labels labels;
    std::string_view want;
  } cases[] = {
      {"dcgm-exporter in Kubernetes",
       {{"__name__", "DCGM_FI_DEV_GPU_UTIL"},
        {"Hostname", "node-7"},
        {"gpu", "1"},
        {"pod", "train-0"},
        {"namespace", "bio"},
        {"container", "main"}},
       "node-7/1  slice= job=train-0 user= account=bio partition= kind= DCGM_FI_DEV_GPU_UTIL"},
      {"the same, and Prometheus adds the exporter's own pod",
       {{"__name__", "DCGM_FI_DEV_GPU_UTIL"},
        {"Hostname", "dcgm-exporter-x2x4"},
        {"node", "node-7"},
        {"gpu", "1"},
        {"pod", "dcgm-exporter-x2x4"},
        {"namespace", "gpu-operator"},
        {"exported_pod", "train-0"},
        {"exported_namespace", "bio"}},
       "node-7/1  slice= job=train-0 user= account=bio partition= kind= DCGM_FI_DEV_GPU_UTIL"},
      {"nobody has it, so the pod is the exporter's",
       {{"__name__", "DCGM_FI_DEV_GPU_UTIL"},
        {"Hostname", "node-7"},
        {"gpu", "1"},
        {"pod", "nvidia-dcgm-exporter-x2x4"},
        {"namespace", "gpu-operator"}},
       "node-7/1  slice= job= user= account= partition= kind= DCGM_FI_DEV_GPU_UTIL"},
      {"another exporter's own pod",
       {{"instance", "n1:9445"}, {"minor_number", "1"}, {"pod", "gpu-metrics-abc"}},
       "n1/1  slice= job= user= account= partition= kind= M"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(shown(subject_of(c.labels, "M")), c.want);
  }
}

// The conventions of exporters, as they write them.
TEST(Labels, EachExporterNamesItsJob) {
  const struct {
    const char* name;
    Labels labels;
    std::string_view want;
  } cases[] = {
      {"dcgm-exporter with --hpc-job-mapping-dir",
       {{"__name__", "DCGM_FI_PROF_SM_ACTIVE"},
        {"Hostname", "gpu001"},
        {"UUID", "GPU-5fd4"},
        {"device", "nvidia3"},
        {"gpu", "3"},
        {"hpc_job", "1042"},
        {"instance", "10.0.0.7:9400"},
        {"job", "dcgm"},
        {"modelName", "NVIDIA A100-SXM4-40GB"}},
       "gpu001/3 GPU-5fd4 slice= job=1042 user= account= partition= kind=NVIDIA A100-SXM4-40GB "
       "DCGM_FI_PROF_SM_ACTIVE"},
      {"a MIG slice",
       {{"Hostname", "gpu001"}, {"gpu", "0"}, {"GPU_I_ID", "7"}, {"GPU_I_PROFILE", "1g.5gb"}},
       "gpu001/0  slice=7 job= user= account= partition= kind= M"},
      {"jobstats from 0.2.2",
       {{"instance", "della-l01g1.princeton.edu:9445"},
        {"jobid", "4177"},
        {"minor_number", "1"},
        {"name", "NVIDIA A100 80GB PCIe"},
        {"userid", "20123"},
        {"uuid", "GPU-77"}},
       "della-l01g1/1 GPU-77 slice= job=4177 user=20123 account= partition= "
       "kind=NVIDIA A100 80GB PCIe M"},
      {"jobstats, nobody has it",
       {{"instance", "n1:9445"}, {"minor_number", "1"}, {"jobid", "0"}},
       "n1/1  slice= job= user= account= partition= kind= M"},
      {"dynolog",
       {{"entity", "vm17.gpu.5"},
        {"instance", "vm17:8080"},
        {"job_id", "99"},
        {"username", "ada"},
        {"slurm_account", "vision"}},
       "vm17/5  slice= job=99 user=ada account=vision partition= kind= M"},
      {"AMD's device-metrics-exporter",
       {{"card_series", "AMD Instinct MI300X OAM"},
        {"gpu_compute_partition_type", "spx"},
        {"gpu_id", "2"},
        {"gpu_partition_id", "0"},
        {"gpu_uuid", "ccff"},
        {"hostname", "tw038"},
        {"job_id", "8"},
        {"job_partition", "gpu"},
        {"job_user", "eve"}},
       "tw038/2 ccff slice= job=8 user=eve account= partition=gpu kind=AMD Instinct MI300X OAM M"},
      {"no job label at all",
       {{"instance", "[2001:db8::7]:9400"}, {"gpu", "0"}},
       "[2001:db8::7]/0  slice= job= user= account= partition= kind= M"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(shown(subject_of(c.labels, "M")), c.want);
  }
}

TEST(Labels, EachExporterHasItsBestMetricFirst) {
  std::map<std::string_view, int> rank;
  for (const Metric& metric : metrics()) {
    const UsageMetric* known = find_usage_metric(metric.name);
    ASSERT_NE(known, nullptr) << metric.name;
    EXPECT_GE(known->rank, rank[metric.exporter]) << metric.name;
    rank[metric.exporter] = known->rank;
  }
}

}  // namespace
}  // namespace amdahl::fleet::prometheus
