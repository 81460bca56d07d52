// labels.h: whose accelerator, and whose job, a Prometheus series speaks of, by exporter
// convention.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/metrics.h"
#include "model/fleet.h"

namespace amdahl::fleet::prometheus {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::string_view find(const Labels& labels, std::string_view name);  // Empty if there is none.

// Reads `gpu="0", Hostname="n1"`. False if these are not labels.
bool read_labels(std::string_view text, Labels& labels);

using fleet::kJobByValue;
// The label that we have the server make of that value.
inline constexpr std::string_view kJobFromValue = "value_is_job";

// What a series is about. The views are of `labels` (and of `metric`).
struct Subject {
  model::SeriesKey key;
  std::string_view user;
  std::string_view account;
  std::string_view partition;
  std::string_view bus;  // The PCI address of the accelerator.
};

// dcgm-exporter (hpc_job), jobstats (jobid), dynolog (job_id, entity), AMD's
// device-metrics-exporter (job_id, gpu_id) and slurm-job-exporter (slurmjobid). `metric`: taken
// where the series has no
// __name__, as after arithmetic on the server.
Subject subject_of(const Labels& labels, std::string_view metric = {});

// "gpu001.cluster.example:9400" is "gpu001"; an address stays whole.
std::string_view short_host(std::string_view host);

// Where an exporter puts what one metric is about; its unit and rank are in fleet/metrics.h.
struct Metric {
  std::string_view name;
  std::string_view exporter;  // The lesser metrics of one exporter fill in for the better ones.
  std::string_view host;      // The label that names the host.
};

// Of each exporter the best first: SM_ACTIVE, GR_ENGINE_ACTIVE, GPU_UTIL.
std::span<const Metric> metrics();

}  // namespace amdahl::fleet::prometheus
