// Fleets by chance, against the join done the slow and obvious way.
#include <map>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "scan/usage_testing.h"

namespace amdahl::scan {
namespace {

using fleet::Sample;
using fleet::SeriesId;
using std::chrono::seconds;

struct Job {
  std::string id;
  int start = 0;
  int end = 0;
  bool running = false;
  std::vector<std::pair<int, int>> places;  // Host and device.
};

constexpr int kHosts = 3;
constexpr int kDevices = 4;
constexpr int kEnd = 20000;
constexpr int kCadence = 10;

std::string host_name(int host) { return "h" + std::to_string(host); }

std::vector<Job> random_jobs(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Job> jobs;
  for (int i = 0; i < 120; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.start = 1 + below(kEnd);
    job.end = job.start + below(below(4) == 0 ? 9000 : 600);
    job.running = below(20) == 0;
    const int host = below(kHosts);
    for (int device = 0; device < kDevices; ++device) {
      if (below(3) == 0) job.places.emplace_back(host, device);
    }
    if (!job.places.empty()) jobs.push_back(job);
  }
  return jobs;
}

struct Sums {
  std::uint32_t samples = 0;
  std::uint32_t idle = 0;
  double sum = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};
using Key = std::pair<std::string, std::string>;  // Job, "host/device".

struct Fleet {
  std::vector<Job> jobs;
  std::vector<std::vector<Sample>> samples;  // By host and device.
};

Fleet random_fleet(unsigned seed) {
  std::mt19937 random(seed);
  Fleet fleet;
  fleet.jobs = random_jobs(random);
  fleet.samples.resize(kHosts * kDevices);
  for (auto& series : fleet.samples) {
    for (int at = static_cast<int>(random() % 10); at < kEnd; at += kCadence) {
      if (random() % 50 == 0) at += static_cast<int>(random() % 300);  // A gap.
      const auto value = static_cast<float>(random() % 3 == 0 ? 0 : random() % 101);
      series.push_back({kStart + seconds(at), value});
    }
  }
  return fleet;
}

std::map<Key, Sums> slowly(const Fleet& fleet) {
  std::map<Key, Sums> sums;
  for (const Job& job : fleet.jobs) {
    for (const auto& [host, device] : job.places) {
      for (const Sample& sample :
           fleet.samples[static_cast<std::size_t>(host * kDevices + device)]) {
        const Nanos start = kStart + seconds(job.start);
        const Nanos end = kStart + seconds(job.end);
        if (sample.at < start || (!job.running && sample.at >= end)) continue;
        Sums& to = sums[{job.id, host_name(host) + "/" + std::to_string(device)}];
        ++to.samples;
        to.idle += sample.value < 5 ? 1U : 0U;
        to.sum += static_cast<double>(sample.value) * 0.01;
      }
    }
  }
  return sums;
}

// Rows in time order over all series, as exporters write them, or series by series.
void tell(const Fleet& fleet, UsageAccumulator& accumulator, bool by_series) {
  for (const Job& job : fleet.jobs) {
    model::JobDraft draft;
    draft.id = job.id;
    draft.start = kStart + seconds(job.start);
    draft.end = job.running ? Nanos{} : kStart + seconds(job.end);
    draft.state = job.running ? model::JobState::kRunning : model::JobState::kCompleted;
    draft.accelerators = static_cast<double>(job.places.size());
    accumulator.job(draft, {});
    for (const auto& [host, device] : job.places) {
      accumulator.tell(fleet::Assignment{job.id, host_name(host), std::to_string(device)});
    }
  }
  std::vector<SeriesId> ids;
  for (int i = 0; i < kHosts * kDevices; ++i) {
    ids.push_back(accumulator.series({.host = host_name(i / kDevices),
                                      .accelerator = std::to_string(i % kDevices),
                                      .uuid = {},
                                      .slice = {},
                                      .job = {},
                                      .metric = "DCGM_FI_DEV_GPU_UTIL",
                                      .kind = {}}));
  }
  if (by_series) {
    for (std::size_t i = 0; i < ids.size(); ++i) accumulator.samples(ids[i], fleet.samples[i]);
    return;
  }
  std::multimap<Nanos, std::pair<SeriesId, Sample>> order;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (const Sample& sample : fleet.samples[i])
      order.emplace(sample.at, std::pair(ids[i], sample));
  }
  for (const auto& [at, row] : order) accumulator.rows({&row.first, 1}, {&row.second, 1});
}

std::map<Key, Sums> sums_of(const FleetUsage& usage) {
  std::map<Key, Sums> sums;
  for (const Lane& lane : usage.lanes) {
    if (lane.samples == 0) continue;
    const std::string place =
        std::string(usage.text(lane.host)) + "/" + std::string(usage.text(lane.accelerator));
    sums[{std::string(usage.text(usage.jobs[lane.job].id)), place}] = {lane.samples, lane.idle,
                                                                       lane.utilisation};
  }
  return sums;
}

TEST(FoldByChance, AgreesWithTheSlowJoin) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Fleet fleet = random_fleet(seed);
    const std::map<Key, Sums> want = slowly(fleet);
    for (const bool by_series : {false, true}) {
      UsageAccumulator accumulator;
      tell(fleet, accumulator, by_series);
      const FleetUsage usage = std::move(accumulator).finish();
      const std::map<Key, Sums> got = sums_of(usage);
      ASSERT_EQ(got.size(), want.size());
      for (const auto& [key, sums] : want) {
        SCOPED_TRACE(key.first + " " + key.second);
        const auto found = got.find(key);
        ASSERT_NE(found, got.end());
        EXPECT_EQ(found->second.samples, sums.samples);
        EXPECT_EQ(found->second.idle, sums.idle);
        EXPECT_NEAR(found->second.sum, sums.sum, 1e-9);
      }
      for (const FleetJob& job : usage.jobs) {
        const Split& s = job.split;
        EXPECT_NEAR(s.allocated, s.unobserved + s.idle + s.low + s.productive, 1e-6);
        for (const double part : {s.unobserved, s.idle, s.low, s.productive}) EXPECT_GE(part, 0);
      }
    }
  }
}

}  // namespace
}  // namespace amdahl::scan
