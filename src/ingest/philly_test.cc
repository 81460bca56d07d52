// The week of synthetic utilisation on the real Philly skeleton: every sum, every job.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "bytes/unpack.h"
#include "ingest/testing.h"
#include "scan/usage_testing.h"

namespace amdahl::ingest {
namespace {

using namespace scan;

using std::chrono::seconds;

std::string bytes_of(const std::string& file) {
  std::ifstream stream(week_file(file), std::ios::binary);
  std::stringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

constexpr Window kWeek{seconds(1507507200), seconds(1508112000)};

Ingested read_week(Options options, int threads) {
  for (const char* file : {"dcgm_long.csv.gz", "gpu_alloc.csv.gz", "sacct.txt.gz"}) {
    options.origins.push_back({.where = week_file(file)});
  }
  options.threads = threads;
  os::FakeClock clock(seconds(1'800'000'000));
  auto read = read_fleet(options, clock);
  if (read) return *std::move(read);
  ADD_FAILURE() << read.error().text;
  return {};
}

std::string read_as(const Ingested& week, std::string_view file) {
  for (const InputRead& input : week.inputs) {
    if (input.name.ends_with(file)) return input.read_as.substr(0, input.read_as.find(':'));
  }
  return "not read";
}

double hours(double accelerator_seconds) { return accelerator_seconds / 3600; }

// The truth is written with four digits.
void expect_near(double got, double want) {
  EXPECT_NEAR(got, want, std::max(1e-6 * want, 0.51e-4));
}

struct Truth {
  double allocated, unobserved, idle0, low0, productive, idle5, low5;
  std::uint64_t samples;
};

std::map<std::string, Truth, std::less<>> truth() {
  std::string text;
  const auto unpacker = bytes::Unpacker::make(bytes::Packing::kGzip);
  EXPECT_TRUE(
      unpacker->feed(bytes_of("truth_jobs.csv.gz"), [&](std::string_view bytes) -> Result<> {
        text += bytes;
        return Ok{};
      }));
  EXPECT_TRUE(unpacker->is_whole());
  std::map<std::string, Truth, std::less<>> jobs;
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(trim(line), ',');
    if (cells.size() != 14 || cells[0] == "jobid") continue;
    const auto at = [&](std::size_t i) { return *to_number<double>(cells[i]); };
    jobs[std::string(cells[0])] = {at(5), at(6),  at(7),  at(8),
                                   at(9), at(10), at(11), static_cast<std::uint64_t>(at(12))};
  }
  return jobs;
}

class Philly : public testing::Test {
 protected:
  void SetUp() override {
    if (week_file("").empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  }
};

TEST_F(Philly, TheSumsOfTheWeek) {
  const Ingested week = read_week({.from = kWeek.start, .to = kWeek.end, .idle_below = 0}, 1);
  const FleetUsage& usage = week.usage;
  EXPECT_EQ(read_as(week, "dcgm_long.csv.gz"), "csv-long");
  EXPECT_EQ(read_as(week, "sacct.txt.gz"), "slurm");
  EXPECT_EQ(usage.jobs.size(), 13722U);
  EXPECT_EQ(usage.samples, 1419264U);
  EXPECT_EQ(usage.attributed, 1178480U);
  EXPECT_EQ(count_of(usage, model::Trouble::kNoJob), 240784U);
  EXPECT_EQ(count_of(usage, model::Trouble::kRunning), 66U);
  const Split total = total_of(usage.jobs);
  expect_near(hours(total.allocated), 98203.8978);
  expect_near(hours(total.unobserved), 27.9067);
  expect_near(hours(total.idle), 26984.3829);
  expect_near(hours(total.low), 22524.1305);
  expect_near(hours(total.productive), 48667.4777);
  expect_near(hours(usage.unclipped), 158392.5003);
  std::size_t unobserved = 0;
  for (const FleetJob& job : usage.jobs) unobserved += job.evidence == Evidence::kNone ? 1U : 0U;
  EXPECT_EQ(unobserved, 1226U);
  ASSERT_FALSE(usage.lanes.empty());
  EXPECT_EQ(usage.text(usage.lanes[0].metric), "DCGM_FI_DEV_GPU_UTIL");
}

TEST_F(Philly, EveryJobAtBothThresholds) {
  const Ingested week = read_week({.from = kWeek.start, .to = kWeek.end, .idle_below = 0.05}, 1);
  const FleetUsage& usage = week.usage;
  const auto jobs = truth();
  ASSERT_EQ(jobs.size(), usage.jobs.size());
  double idle = 0;
  double low = 0;
  for (const FleetJob& job : usage.jobs) {
    const auto want = jobs.find(usage.text(job.id));
    ASSERT_NE(want, jobs.end()) << usage.text(job.id);
    SCOPED_TRACE(want->first);
    constexpr double kDigit = 1.01e-6;  // The file has six digits.
    const Truth& t = want->second;
    EXPECT_NEAR(hours(job.split.allocated), t.allocated, kDigit);
    EXPECT_NEAR(hours(job.split.unobserved), t.unobserved, kDigit);
    EXPECT_NEAR(hours(job.split.idle), t.idle5, kDigit);
    EXPECT_NEAR(hours(job.split.low), t.low5, kDigit);
    EXPECT_NEAR(hours(job.idle_at_zero), t.idle0, kDigit);
    EXPECT_NEAR(hours(job.low_at_zero), t.low0, kDigit);
    std::uint64_t samples = 0;
    for (const Lane& lane : usage.lanes_of(job)) samples += lane.samples;
    EXPECT_EQ(samples, t.samples);
    idle += job.split.idle;
    low += job.split.low;
  }
  expect_near(hours(idle), 28067.0401);
  expect_near(hours(low), 21469.9227);
}

// Without one given, the window is what the telemetry covers: here the same week.
TEST_F(Philly, NotClippingToTheWindow) {
  const Ingested week = read_week({}, 1);
  const FleetUsage& usage = week.usage;
  EXPECT_EQ(usage.window, kWeek);
  expect_near(hours(total_of(usage.jobs).allocated), 98203.8978);
}

bool same(const FleetUsage& a, const FleetUsage& b) {
  // By value: a bin has bytes that mean nothing.
  const auto equal = [](const std::vector<Bin>& x, const std::vector<Bin>& y) {
    return std::ranges::equal(x, y, [](const Bin& one, const Bin& other) {
      return one.sum == other.sum && one.samples == other.samples && one.idle == other.idle &&
             one.most == other.most;
    });
  };
  return equal(a.bins, b.bins) && a.words.size() == b.words.size() &&
         a.lanes.size() == b.lanes.size() && a.jobs.size() == b.jobs.size() &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(),
                    [](const FleetJob& x, const FleetJob& y) {
                      return x.id == y.id && x.lane == y.lane && x.lanes == y.lanes &&
                             x.split.idle == y.split.idle && x.split.low == y.split.low &&
                             x.split.productive == y.split.productive &&
                             x.split.unobserved == y.split.unobserved;
                    }) &&
         std::equal(a.lanes.begin(), a.lanes.end(), b.lanes.begin(),
                    [](const Lane& x, const Lane& y) {
                      return x.job == y.job && x.host == y.host && x.accelerator == y.accelerator &&
                             x.utilisation == y.utilisation && x.observed == y.observed &&
                             x.bin == y.bin && x.bins == y.bins;
                    });
}

TEST_F(Philly, SameForAnyNumberOfThreads) {
  const Ingested one = read_week({}, 1);
  for (const int threads : {2, 3, 5}) {
    SCOPED_TRACE(threads);
    EXPECT_TRUE(same(one.usage, read_week({}, threads).usage));
  }
}

// Each sample is in one bin of its lane, and bins are never narrower than the cadence.
TEST_F(Philly, TimelinesHoldEverySample) {
  const Ingested week = read_week({.from = kWeek.start, .to = kWeek.end}, 1);
  for (const Lane& lane : week.usage.lanes) {
    if (lane.samples == 0) continue;
    EXPECT_EQ(lane.cadence, seconds(300));
    ASSERT_LE(lane.bins, kMostBins);
    ASSERT_GE(lane.bin_width, lane.cadence);
    std::uint32_t samples = 0;
    std::uint32_t idle = 0;
    double sum = 0;
    for (const Bin& bin : week.usage.bins_of(lane)) {
      samples += bin.samples;
      idle += bin.idle;
      sum += static_cast<double>(bin.sum);
    }
    ASSERT_EQ(samples, lane.samples);
    ASSERT_EQ(idle, lane.idle);
    ASSERT_NEAR(sum, lane.utilisation, 1e-4 * (1 + lane.utilisation));
  }
}

// The largest jobs keep theirs when there is room for few.
TEST_F(Philly, FewTimelines) {
  const Ingested week = read_week(
      {.from = kWeek.start, .to = kWeek.end, .timeline_lanes = 64, .timelines_of = {"100001"}}, 1);
  const FleetUsage& usage = week.usage;
  std::size_t kept = 0;
  for (const Lane& lane : usage.lanes) {
    kept += lane.bins > 0 ? 1U : 0U;
    const std::string id = usage.text(usage.jobs[lane.job].id);
    if (id == "100001" || id == "105583") {
      EXPECT_GT(lane.bins, 0U) << id;
    }
  }
  EXPECT_LE(kept, 65U);
  EXPECT_GT(kept, 40U);
}

}  // namespace
}  // namespace amdahl::ingest
