#include "scan/trend.h"

#include <cmath>
#include <span>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scan/fleet_testing.h"
#include "scan/usage_accumulator.h"

namespace amdahl::scan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Nanos kMonday = hours{24 * (4 + 7 * 2900)};  // A Monday of 2025, 00:00 UTC.

// Jobs of one accelerator and one utilisation each.
struct TrendFleet {
  FleetUsage usage;

  explicit TrendFleet(Nanos start, Nanos end) { usage.window = {.start = start, .end = end}; }

  void add(std::string_view name, Nanos start, Nanos length, double utilisation) {
    FleetJob job;
    job.id = usage.words.intern_job(fmt::format("{}", usage.jobs.size()));
    job.name = usage.words.intern(name);
    job.accelerators = 1;
    job.start = start;
    job.end = start + length;
    job.evidence = Evidence::kMean;
    const Nanos inside =
        std::min(job.end, usage.window.end) - std::max(job.start, usage.window.start);
    job.split.allocated = to_seconds(inside);
    job.split.productive = utilisation * job.split.allocated;
    job.split.low = job.split.allocated - job.split.productive;
    usage.jobs.push_back(job);
  }
  Report report(Nanos every) const {
    return scan::report(usage, families_of(usage, *Recogniser::make({})), {},
                        {.trend_every = every});
  }
};

// A day of jobs, an hour each, about this utilisation.
void add_day(TrendFleet& fleet, std::string_view name, int day, double utilisation) {
  for (int i = 0; i < 20; ++i) {
    const double noise = 0.02 * ((i * 7) % 5 - 2);
    fleet.add(name, kMonday + hours{24 * day + i}, hours{1}, utilisation + noise);
  }
}

// A border within a bin cuts it, and no window has seen more than there was.
TEST(Trend, WindowsSeeNoMoreThanWasAllocated) {
  UsageAccumulator accumulator({.window = Window{kMonday, kMonday + hours{3}}});
  const auto add_job = [&](std::string_view id, Nanos start, Nanos end) {
    model::JobDraft job;
    job.id = id;
    job.accelerators = 1;
    job.hosts = "h";
    job.start = start;
    job.end = end;
    accumulator.job(job, {});
    accumulator.tell(fleet::Assignment{id, "h", id});
    model::SeriesKey key;
    key.host = "h";
    key.accelerator = id;
    key.metric = "DCGM_FI_DEV_GPU_UTIL";
    const auto series = accumulator.series(key);
    for (Nanos at = start; at < end; at += std::chrono::seconds{70}) {
      const bool is_gap = at > kMonday + minutes{100} && at < kMonday + minutes{130};
      const fleet::Sample sample{at, at < kMonday + minutes{45} ? 0.0F : 80.0F};
      if (!is_gap) accumulator.samples(series, std::span(&sample, 1));
    }
  };
  add_job("0", kMonday, kMonday + hours{3});
  add_job("1", kMonday + minutes{17}, kMonday + minutes{171});
  const FleetUsage usage = std::move(accumulator).finish();
  Slicer slicer(usage, round_grid(usage.window, minutes{20}));
  for (std::size_t i = 0; i < usage.jobs.size(); ++i) slicer.add(i);
  const std::vector<Slice> slices = std::move(slicer).take();
  Split sum;
  for (const Slice& slice : slices) {
    const Split& split = slice.split;
    const double seen = split.idle + split.low + split.productive;
    EXPECT_LE(seen, split.allocated + 1e-3);
    EXPECT_NEAR(seen + split.unobserved, split.allocated, 1e-3);
    sum += split;
  }
  const Split want = total_of(usage.jobs);
  EXPECT_NEAR(sum.idle, want.idle, 1e-3);
  EXPECT_NEAR(sum.low, want.low, 1e-3);
  EXPECT_NEAR(sum.productive, want.productive, 1e-3);
  EXPECT_NEAR(sum.unobserved, want.unobserved, 1e-3);
  // The gap is where it was, not everywhere.
  EXPECT_NEAR(slices[1].split.unobserved, 0, 60);
  EXPECT_GT(slices[5].split.unobserved, 1000);
}

TEST(Trend, WindowsBeginAtRoundTimes) {
  const Window window{kMonday + hours{30}, kMonday + hours{24 * 16 + 1}};
  const Grid days = round_grid(window, hours{24});
  EXPECT_EQ(days.origin, kMonday + hours{24});
  EXPECT_EQ(days.count, 16U);
  const Grid weeks = round_grid(window, hours{24 * 7});
  EXPECT_EQ(weeks.origin, kMonday);
  EXPECT_EQ(weeks.count, 3U);
  EXPECT_EQ(round_grid({kMonday, kMonday + hours{24}}, hours{24}).count, 1U);
  EXPECT_EQ(round_grid({kMonday, kMonday}, hours{24}).count, 1U);
}

TEST(Trend, AChangeIsToldAndNoiseIsNot) {
  TrendFleet fleet(kMonday, kMonday + hours{24 * 4});
  for (int day = 0; day < 4; ++day) {
    add_day(fleet, "better", day, day < 2 ? 0.4 : 0.7);
    add_day(fleet, "same", day, 0.5 + 0.001 * day);
  }
  const Report report = fleet.report(hours{24});
  ASSERT_EQ(report.trends.size(), 3U);
  for (const TrendLine& line : report.trends) {
    SCOPED_TRACE(line.family);
    ASSERT_EQ(line.windows.size(), 4U);
    const bool is_same = line.family.starts_with("same");
    const bool is_better = line.family.starts_with("better");
    for (int day = 0; day < 4; ++day) {
      const TrendWindow& window = line.windows[static_cast<std::size_t>(day)];
      EXPECT_EQ(window.slice.start, kMonday + hours{24 * day});
      EXPECT_EQ(window.slice.jobs, line.family.empty() ? 40U : 20U);
      EXPECT_LT(window.lower, window.share);
      EXPECT_GT(window.upper, window.share);
      EXPECT_EQ(window.has_change, day > 0);
      EXPECT_EQ(window.can_tell, day == 2 && !is_same) << day;
    }
    if (is_better) {
      EXPECT_NEAR(line.windows[2].change, -0.3, 1e-9);
      EXPECT_NEAR(line.windows[0].share, 0.6, 1e-9);
    }
    ASSERT_TRUE(line.halves);
    EXPECT_EQ(line.halves->can_tell, !is_same);
    EXPECT_EQ(line.halves->says.find("may be chance") != std::string::npos, is_same);
  }
}

// The same jobs on both sides of midnight: how they differ from each other is no chance between
// the days.
TEST(Trend, JobsThatRunOnAreComparedWithThemselves) {
  TrendFleet fleet(kMonday, kMonday + hours{48});
  for (int i = 0; i < 30; ++i) {
    fleet.add("long", kMonday + hours{12}, hours{24}, 0.1 + 0.025 * i);
  }
  const Report report = fleet.report(hours{24});
  const TrendWindow& second = report.trends[0].windows[1];
  EXPECT_NEAR(second.change, 0, 1e-12);
  EXPECT_NEAR(second.change_lower, 0, 1e-9) << "each wastes as before: there is nothing to doubt";
  EXPECT_GT(second.upper - second.lower, 0.05) << "while the level itself is uncertain";
}

TEST(Trend, FewJobsAreNoTrend) {
  TrendFleet fleet(kMonday, kMonday + hours{48});
  for (int i = 0; i < 3; ++i) fleet.add("few", kMonday + hours{i}, hours{1}, 0.2);
  for (int i = 0; i < 3; ++i) fleet.add("few", kMonday + hours{24 + i}, hours{1}, 0.9);
  const Report report = fleet.report(hours{24});
  const TrendWindow& second = report.trends[0].windows[1];
  EXPECT_TRUE(second.has_change);
  EXPECT_FALSE(second.can_tell);
  EXPECT_FALSE(std::isfinite(second.lower));
  EXPECT_TRUE(fleet.report(minutes{1}).trends.empty()) << "more windows than anybody would read";
}

TEST(Trend, WindowsAddUpToTheWhole) {
  const FleetUsage usage = made_fleet({.jobs = 20'000, .seed = 3, .observed = true});
  const Report report = scan::report(usage, families_of(usage, *Recogniser::make({})), {},
                                     {.trend_every = hours{24 * 7}});
  ASSERT_EQ(report.trends.size(), 11U);
  Split sum;
  for (const TrendWindow& window : report.trends[0].windows) sum += window.slice.split;
  EXPECT_NEAR(sum.allocated, report.totals.split.allocated, 1e-6 * sum.allocated);
  EXPECT_NEAR(sum.low, report.totals.split.low, 1e-6 * sum.low);
}

// What ^C does to ranking: each pass over jobs looks whether to go on, and none begins after it.
TEST(Trend, StoppedRankingLooksOnlyAFewTimesMore) {
  const FleetUsage usage = made_fleet({.jobs = 20'000, .seed = 5, .observed = true});
  const Families families = families_of(usage, *Recogniser::make({}));
  int whole = 0;
  scan::report(usage, families, {}, {.stop = [&] { return ++whole, false; }});
  EXPECT_GT(whole, 40) << "it looks every few thousand jobs";
  for (int at = 1; at <= whole; at += 9) {
    int asked = 0;
    scan::report(usage, families, {}, {.stop = [&] { return ++asked >= at; }});
    ASSERT_LE(asked, at + 12) << at;
  }
}

}  // namespace
}  // namespace amdahl::scan
