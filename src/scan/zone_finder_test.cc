#include "scan/zone_finder.h"

#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace amdahl::scan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kZoneStart{1'700'006'400};

struct MadeFleet {
  int hosts = 20;
  int jobs_each = 12;
  unsigned seed = 1;
  bool labelled = false;
  bool always_busy = false;  // Samples say nothing of when jobs begin and end.
};

// Jobs one behind the other on each host with pauses between, told `jobs_late` too late, and what
// telemetry saw every minute.
ZoneFit find(const MadeFleet& fleet, ZoneFinder::Local side, seconds jobs_late) {
  ZoneFinder finder(side);
  std::mt19937 luck(fleet.seed);
  const auto upto = [&](unsigned most) { return static_cast<int>(luck() % most); };
  fleet::SeriesId next = 0;
  for (int host = 0; host < fleet.hosts; ++host) {
    const std::string name = fmt::format("n{}", host);
    seconds at = kZoneStart + seconds(upto(7200));
    const fleet::SeriesId free = next++;
    finder.series(free, {name, "0", "", "", "", "DCGM_FI_DEV_GPU_UTIL", ""});
    for (int i = 0; i < fleet.jobs_each; ++i) {
      const std::string id = fmt::format("{}", host * 1000 + i);
      const seconds length{1800 + upto(20'000)};
      model::JobDraft job;
      job.id = id;
      job.hosts = name;
      job.accelerators = 1;
      job.state = model::JobState::kCompleted;
      job.start = at + jobs_late;
      job.end = at + length + jobs_late;
      finder.job(job);
      fleet::SeriesId series = free;
      if (fleet.labelled) {
        series = next++;
        finder.series(series, {name, "0", "", "", id, "DCGM_FI_DEV_GPU_UTIL", ""});
      }
      const seconds pause{600 + upto(7200)};
      for (seconds t{upto(60)}; t < length + pause; t += seconds(60)) {
        const bool is_busy = t < length && t >= seconds(30);
        if (!is_busy && fleet.labelled) continue;
        const float value = is_busy || fleet.always_busy ? static_cast<float>(20 + upto(80)) : 0;
        finder.sample(series, {at + t, value});
      }
      at += length + pause;
    }
  }
  return std::move(finder).find();
}

TEST(ZoneFinder, FindsTheZoneFromWhenAcceleratorsBecomeBusy) {
  for (const bool labelled : {false, true}) {
    for (const auto offset : {minutes(0), minutes(60), minutes(120), minutes(-300), minutes(330),
                              minutes(540), minutes(-480), minutes(840)}) {
      SCOPED_TRACE(fmt::format("{} min, labelled {}", offset.count(), labelled));
      const ZoneFit jobs = find({.labelled = labelled}, ZoneFinder::Local::kJobs, offset);
      EXPECT_TRUE(jobs.is_sure) << jobs.fitting << " of " << jobs.of << ", next " << jobs.next;
      EXPECT_EQ(seconds{jobs.offset_s}, offset);
      // Samples in local time are as if the jobs were as much too early.
      const ZoneFit samples = find({.labelled = labelled}, ZoneFinder::Local::kSamples, -offset);
      EXPECT_TRUE(samples.is_sure);
      EXPECT_EQ(seconds{samples.offset_s}, offset);
    }
  }
}

TEST(ZoneFinder, OneJobMayBeEnough) {
  const ZoneFit fit = find({.hosts = 1, .jobs_each = 1}, ZoneFinder::Local::kJobs, hours(2));
  EXPECT_TRUE(fit.is_sure);
  EXPECT_EQ(fit.offset_s, 7200);
  EXPECT_EQ(fit.fitting, 2U);
  EXPECT_EQ(fit.of, 2U);
}

TEST(ZoneFinder, IsNotSureWhereTheDataDoNotTell) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    const ZoneFit fit =
        find({.seed = seed, .always_busy = true}, ZoneFinder::Local::kJobs, hours(2));
    EXPECT_FALSE(fit.is_sure) << fit.fitting << " of " << fit.of << ", next " << fit.next;
    EXPECT_GT(fit.share, 0.5);
  }
}

// A job that runs through all of it in any zone does not depend on which.
TEST(ZoneFinder, NothingHangsOnTheZoneOfLongJobs) {
  ZoneFinder finder(ZoneFinder::Local::kJobs);
  model::JobDraft job;
  job.id = "1";
  job.hosts = "n1";
  job.accelerators = 1;
  job.start = kZoneStart - hours(100);
  job.end = kZoneStart + hours(100);
  finder.job(job);
  finder.series(0, {"n1", "0", "", "", "", "DCGM_FI_DEV_GPU_UTIL", ""});
  for (int i = 0; i < 600; ++i) finder.sample(0, {kZoneStart + minutes(i), 50});
  const ZoneFit fit = std::move(finder).find();
  EXPECT_FALSE(fit.is_sure);
  EXPECT_EQ(fit.of, 0U);
  EXPECT_EQ(fit.share, 0);
}

// Half of the jobs before daylight saving ends, half after: no one offset is right.
TEST(ZoneFinder, TwoOffsetsAreNone) {
  ZoneFinder finder(ZoneFinder::Local::kJobs);
  for (int i = 0; i < 60; ++i) {
    const std::string host = fmt::format("n{}", i);
    const seconds at = kZoneStart + seconds(i * 1237);
    const seconds late = i < 30 ? hours(2) : hours(1);
    model::JobDraft job;
    job.id = host;
    job.hosts = host;
    job.accelerators = 1;
    job.state = model::JobState::kCompleted;
    job.start = at + late;
    job.end = at + hours(1) + late;
    finder.job(job);
    const auto series = static_cast<fleet::SeriesId>(i);
    finder.series(series, {host, "0", "", "", "", "DCGM_FI_DEV_GPU_UTIL", ""});
    for (int t = -30; t < 90; ++t) {
      finder.sample(series, {at + minutes(t), t >= 0 && t < 60 ? 50.0F : 0.0F});
    }
  }
  const ZoneFit fit = std::move(finder).find();
  EXPECT_FALSE(fit.is_sure) << fit.fitting << " and " << fit.next;
}

TEST(ZoneFinder, ShowsOffsetsAsPeopleTypeThem) {
  EXPECT_EQ(show_offset(0), "UTC");
  EXPECT_EQ(show_offset(7200), "+02:00");
  EXPECT_EQ(show_offset(-12600), "-03:30");
}

}  // namespace
}  // namespace amdahl::scan
