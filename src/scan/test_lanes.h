// test_lanes.h: jobs with known utilisation, in full and as bounded timelines, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/usage.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

inline model::Usage usage_of(const std::vector<std::vector<float>>& lanes, double sample_seconds) {
  model::Usage usage;
  usage.job = "1";
  usage.family = "test";
  usage.accelerators = static_cast<int>(lanes.size());
  usage.utilisation.interval = from_seconds(sample_seconds);
  usage.utilisation.metric = "DCGM_FI_PROF_SM_ACTIVE";
  usage.utilisation.accelerators = lanes;
  usage.start = std::chrono::hours{1000};
  usage.end = usage.start + from_seconds(sample_seconds * static_cast<double>(lanes[0].size()));
  return usage;
}

inline void append_lane(FleetUsage& fleet, const std::vector<float>& samples, const FleetJob& job,
                        double sample_seconds) {
  const std::size_t per_bin = (samples.size() + kMostBins - 1) / kMostBins;
  Lane lane;
  lane.job = static_cast<std::uint32_t>(fleet.jobs.size());
  lane.host = fleet.words.intern("gpu001");
  lane.accelerator = fleet.words.intern(std::to_string(fleet.lanes.size() - job.lane));
  lane.allocated = job.end - job.start;
  lane.bin_width = from_seconds(sample_seconds * static_cast<double>(per_bin));
  lane.bin_start = job.start;
  lane.bin = static_cast<std::uint32_t>(fleet.bins.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i % per_bin == 0) fleet.bins.emplace_back();
    if (!std::isfinite(samples[i])) continue;
    Bin& bin = fleet.bins.back();
    const auto part = static_cast<std::uint16_t>(std::lround(10000 * samples[i]));
    const bool idle = samples[i] <= 0 || samples[i] < static_cast<float>(fleet.idle_below) - 1e-6F;
    bin.most = std::max(bin.most, part);
    bin.sum += samples[i];
    ++bin.samples;
    bin.idle += idle;
    ++lane.samples;
    lane.idle += idle;
    lane.at_zero += samples[i] == 0;
    lane.utilisation += samples[i];
    lane.utilisation_idle += idle ? samples[i] : 0;
  }
  lane.bins = static_cast<std::uint32_t>(fleet.bins.size()) - lane.bin;
  lane.observed = from_seconds(sample_seconds * lane.samples);
  fleet.lanes.push_back(lane);
}

// A fleet of this one job.
inline FleetUsage fleet_of(const std::vector<std::vector<float>>& lanes, double sample_seconds) {
  FleetUsage fleet;
  FleetJob job;
  job.id = fleet.words.intern_job("1");
  job.state = model::JobState::kCompleted;
  job.evidence = Evidence::kSamples;
  job.accelerators = static_cast<float>(lanes.size());
  job.start = std::chrono::hours{1000};
  job.end = job.start + from_seconds(sample_seconds * static_cast<double>(lanes[0].size()));
  fleet.window = {.start = job.start, .end = job.end};
  for (const auto& samples : lanes) append_lane(fleet, samples, job, sample_seconds);
  job.lanes = static_cast<std::uint32_t>(fleet.lanes.size());
  for (const Lane& lane : fleet.lanes) job.split += split_of(lane);
  fleet.jobs.push_back(job);
  return fleet;
}

}  // namespace amdahl::scan
