// labels.h: accelerator and job of a Prometheus series, by the exporters' label conventions.
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

std::string_view find(const Labels& labels, std::string_view name);  // Empty if missing.

// Parses `gpu="0", Hostname="n1"`. False if malformed.
bool read_labels(std::string_view text, Labels& labels);

using fleet::kJobByValue;
// The label that our query makes the server create from that value.
inline constexpr std::string_view kJobFromValue = "value_is_job";

// What a series describes. Views into `labels` and `metric`.
struct Subject {
  model::SeriesKey key;
  std::string_view user;
  std::string_view account;
  std::string_view partition;
  std::string_view bus;  // PCI address of the accelerator.
};

// Supports dcgm-exporter (hpc_job), jobstats (jobid), dynolog (job_id, entity), AMD's
// device-metrics-exporter (job_id, gpu_id) and slurm-job-exporter (slurmjobid). `metric` is used
// if the series has no __name__, as after arithmetic on the server.
Subject subject_of(const Labels& labels, std::string_view metric = {});

// How an exporter labels one metric; unit and rank are in fleet/metrics.h.
struct Metric {
  std::string_view name;
  std::string_view exporter;  // Lesser metrics of an exporter fill gaps of its better ones.
  std::string_view host;      // Label with the host name.
};

// Best metric of each exporter first: SM_ACTIVE, GR_ENGINE_ACTIVE, GPU_UTIL.
std::span<const Metric> metrics();

}  // namespace amdahl::fleet::prometheus
