#include "scan/report.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scan/draw.h"
#include "scan/family.h"
#include "scan/fleet_testing.h"
#include "scan/fleet_usage.h"
#include "scan/test_fleet.h"
#include "scan/test_lanes.h"

namespace amdahl::scan {
namespace {

const double kPublished = published_rate().mean;

using std::chrono::hours;

std::vector<std::string> names(const Cut& cut) {
  std::vector<std::string> all;
  for (const Row& row : cut.rows) all.push_back(row.name);
  return all;
}

TEST(Report, TheFourSumToWhatWasAllocated) {
  Fleet fleet;
  fleet.add({.id = "1", .accelerators = 4, .hours = 2, .queued = 3, .utilisation = 0.25});
  fleet.add({.id = "2", .hours = 5, .utilisation = 0});
  fleet.add({.id = "3", .hours = 3, .state = model::JobState::kFailed});
  fleet.add({.id = "4", .user = "u2", .hours = 1, .state = model::JobState::kCancelled});
  const Report report = fleet.report();
  const Totals& totals = report.totals;
  EXPECT_EQ(totals.jobs, 4U);
  EXPECT_EQ(totals.unobserved_jobs, 2U);
  EXPECT_EQ(totals.lost_jobs, 1U);
  EXPECT_EQ(totals.users, 2U);
  EXPECT_EQ(totals.accounts, 0U);
  EXPECT_DOUBLE_EQ(totals.split.allocated, 17 * kHour);
  EXPECT_DOUBLE_EQ(totals.split.unobserved, 4 * kHour);
  EXPECT_DOUBLE_EQ(totals.split.idle, 5 * kHour);
  EXPECT_DOUBLE_EQ(totals.split.low, 6 * kHour);
  EXPECT_DOUBLE_EQ(totals.split.productive, 2 * kHour);
  EXPECT_DOUBLE_EQ(totals.queue, 12 * kHour);
  EXPECT_EQ(totals.queue_unknown_jobs, 3U);
  EXPECT_DOUBLE_EQ(totals.lost, 3 * kHour);
  EXPECT_DOUBLE_EQ(*report.utilisation.mean, 2.0 / 13);
  EXPECT_DOUBLE_EQ(*report.utilisation.median, 0.25);
  ASSERT_EQ(report.utilisation.metrics.size(), 1U);
  EXPECT_EQ(report.utilisation.metrics[0].name, "acc_utilization");
  EXPECT_EQ(names(report.cut(By::kState)),
            (std::vector<std::string>{"COMPLETED", "FAILED", "CANCELLED"}));
}

TEST(Report, OfNothingIsEmpty) {
  const FleetUsage usage;
  const Report report = scan::report(usage, families_of(usage, *Recogniser::make({})), {});
  EXPECT_EQ(report.totals.jobs, 0U);
  EXPECT_EQ(report.cuts.size(), kCuts.size());
  EXPECT_FALSE(report.trend);
  EXPECT_FALSE(report.utilisation.mean);
  EXPECT_FALSE(report.utilisation.median);
}

TEST(Report, RanksByWhatMayComeBackThenByWaste) {
  Fleet fleet;
  // Half used: a lever is taken to reach half of the waste. Unused: all of it.
  fleet.add({.id = "big", .name = "half", .hours = 10, .utilisation = 0.5});
  fleet.add({.id = "idle", .name = "session", .hours = 4, .utilisation = 0});
  fleet.add({.id = "dark", .name = "dark", .hours = 20});
  const Report report = fleet.report();
  EXPECT_EQ(names(report.cut(By::kFamily)),
            (std::vector<std::string>{"session.u1.x1", "half.u1.x1", "dark.u1.x1"}));
  const Row& first = report.cut(By::kFamily).rows[0];
  EXPECT_NEAR(first.recoverable, 4 * kHour * kPublished, 1e-6);
  EXPECT_EQ(first.lever.action, "end sessions that do nothing");
  EXPECT_EQ(
      first.why,
      "4.00 of 4.00 accelerator-hours (100 %) wasted in 1 job; lever: end sessions that do "
      "nothing, at most 100 % of it; no such lever was tried yet: chance 43 % (18 % to 62 %), "
      "published: 600 of 706 such causes were fixed by a few lines (ICSE 2024); fixes reached "
      "22 to 71 % of their ceiling (kineto samples)");
  EXPECT_EQ(first.detail,
            "jobs named session, user u1, 1 accelerator; the only one of its name and user");
  const Row& second = report.cut(By::kFamily).rows[1];
  EXPECT_NEAR(second.recoverable, 5 * kHour * 0.5 * kPublished, 1e-6);
  EXPECT_EQ(report.cut(By::kFamily).rows[2].why,
            "20.0 accelerator-hours in 1 job, none of them observed: cannot tell");
  EXPECT_EQ(names(fleet.report({.order = Order::kWasted}).cut(By::kJob)),
            (std::vector<std::string>{"big", "idle", "dark"}));
  EXPECT_EQ(names(fleet.report({.rows = 1, .order = Order::kAllocated}).cut(By::kJob)),
            (std::vector<std::string>{"dark"}));
}

TEST(Report, MemoryMovesTheRank) {
  Fleet fleet;
  fleet.add({.id = "1", .name = "a", .hours = 4, .utilisation = 0});
  fleet.add({.id = "2", .name = "b", .hours = 4, .utilisation = 0});
  Memories memory;
  memory.families["b.u1.x1"] = {.tried = 2, .won = 2};
  EXPECT_EQ(fleet.report({}, memory).cut(By::kFamily).rows[0].name, "b.u1.x1");
  memory.families["b.u1.x1"] = {.tried = 6, .won = 0};
  EXPECT_EQ(fleet.report({}, memory).cut(By::kFamily).rows[0].name, "a.u1.x1");
  // Levers of the same class that failed elsewhere make all of them less likely.
  const double before = fleet.report({}, memory).totals.recoverable;
  memory.levers[model::Bottleneck::kAllocation] = {.tried = 20, .won = 0};
  EXPECT_LT(fleet.report({}, memory).totals.recoverable, before / 4);
  // A profile says how far its largest cause reaches.
  memory.families["a.u1.x1"].causes = {{model::Bottleneck::kUnknown, 0.25}};
  const Report report = fleet.report({}, memory);
  EXPECT_EQ(report.cut(By::kFamily).rows[0].name, "a.u1.x1");
  EXPECT_EQ(report.cut(By::kFamily).rows[0].lever.from, Lever::From::kProfile);
  EXPECT_NEAR(report.cut(By::kFamily).rows[0].recoverable, 4 * kHour * 0.25 * kPublished, 1e-6);
}

TEST(Report, SaysHowOftenSuchLeversWorked) {
  Fleet fleet;
  fleet.add({.id = "1", .name = "a", .hours = 10, .utilisation = 0});
  Memories memory;
  memory.levers[model::Bottleneck::kAllocation] = {.tried = 5, .won = 4};
  const auto first = [&] { return fleet.report({}, memory).cut(By::kFamily).rows.at(0); };
  EXPECT_TRUE(first().why.ends_with("; such levers worked in 4 of 5 tries: chance 64 %"))
      << first().why;
  EXPECT_EQ(first().lever.against, model::Bottleneck::kAllocation);
  EXPECT_NEAR(first().recoverable, 10 * kHour * (4 + 4 * kPublished) / 9, 1e-6);
  EXPECT_DOUBLE_EQ(wasted(first().split), 10 * kHour) << "raw waste stays beside it";
  memory.families["a.u1.x1"] = {.tried = 2, .won = 0};
  EXPECT_TRUE(first().why.ends_with(
      "; such levers worked in 4 of 5 tries, those of this family in 0 of 2: chance 42 %"))
      << first().why;
  memory.levers.clear();
  EXPECT_TRUE(first().why.ends_with("; levers of this family worked in 0 of 2 tries: chance 29 %"))
      << first().why;
}

// The largest cause of a profile is not the best lever where such levers never work.
TEST(Report, TheBestLeverOfAProfileIsTheOneToExpectMostOf) {
  Fleet fleet;
  fleet.add({.id = "1", .name = "a", .hours = 10, .utilisation = 0});
  Memories memory;
  memory.families["a.u1.x1"].causes = {{model::Bottleneck::kContention, 0.5},
                                       {model::Bottleneck::kInput, 0.4}};
  memory.levers[model::Bottleneck::kContention] = {.tried = 20, .won = 0};
  memory.levers[model::Bottleneck::kInput] = {.tried = 5, .won = 4};
  const Row row = fleet.report({}, memory).cut(By::kFamily).rows.at(0);
  EXPECT_EQ(row.lever.against, model::Bottleneck::kInput);
  EXPECT_NEAR(row.recoverable, 10 * kHour * 0.4 * (4 + 4 * kPublished) / 9, 1e-6);
  EXPECT_EQ(row.why,
            "10.0 of 10.0 accelerator-hours (100 %) wasted in 1 job; lever: its latest profile "
            "puts 40 % down to data starvation; such levers worked in 4 of 5 tries: chance 64 %");
}

TEST(Report, ChanceStartsAtTheLeversRecord) {
  EXPECT_DOUBLE_EQ(chance_of({}, {}), kPublished);
  EXPECT_DOUBLE_EQ(chance_of({.tried = 4, .won = 4}, {}), (4 + 4 * kPublished) / 8);
  EXPECT_DOUBLE_EQ(chance_of({}, {.tried = 6, .won = 3}), (3 + 4 * kPublished) / 10);
}

TEST(Report, ARankOfGroupsIsTheSumOfTheirJobs) {
  Fleet fleet;
  for (int i = 0; i < 40; ++i) {
    fleet.add({.id = i % 2 ? "x" : "y",
               .name = i % 3 ? "a" : "b",
               .user = i % 5 ? "u1" : "u2",
               .hosts = i % 2 ? "gpu[1-2]" : "gpu1",
               .accelerators = 2,
               .hours = 1 + i % 7,
               .utilisation = 0.01 * i});
  }
  const Report report = fleet.report({.rows = 0});
  for (const Cut& cut : report.cuts) {
    SCOPED_TRACE(name(cut.by));
    double recoverable = 0;
    double waste = 0;
    for (const Row& row : cut.rows) {
      recoverable += row.recoverable;
      waste += wasted(row.split);
    }
    EXPECT_EQ(cut.rows.size(), cut.count);
    EXPECT_NEAR(recoverable, report.totals.recoverable, 1e-6);
    EXPECT_NEAR(waste, wasted(report.totals.split), 1e-6);
  }
  EXPECT_EQ(names(report.cut(By::kNode)), (std::vector<std::string>{"gpu1", "gpu2"}));
}

TEST(Report, MoneyOnlyWhereAPriceIsSet) {
  Fleet fleet;
  fleet.add({.id = "1", .kind = "A100", .hours = 10, .utilisation = 0.5});
  fleet.add({.id = "2", .kind = "t4", .hours = 10, .utilisation = 0.5});
  EXPECT_FALSE(fleet.report().totals.money);
  const Report some = fleet.report({.prices = {.by_kind = {{"a100", 2.0}}}});
  EXPECT_DOUBLE_EQ(some.totals.money->allocated, 20);
  EXPECT_DOUBLE_EQ(some.totals.money->wasted.value(), 10);
  EXPECT_DOUBLE_EQ(some.totals.unpriced, 10 * kHour);
  EXPECT_TRUE(some.cut(By::kKind).rows[0].money.has_value());
  EXPECT_FALSE(some.cut(By::kKind).rows[1].money.has_value());
  EXPECT_FALSE(some.cut(By::kUser).rows[0].money.has_value());
  const Report all = fleet.report({.prices = {.by_default = 1.0, .by_kind = {{"a100", 2.0}}}});
  EXPECT_DOUBLE_EQ(all.cut(By::kUser).rows[0].money->allocated, 30);
}

TEST(Report, ParetoTakesTheLargestRoundedUp) {
  std::vector<double> values;
  for (int i = 1; i <= 250; ++i) values.push_back(i);
  const Pareto pareto = pareto_of(values);
  const double total = 250 * 251 / 2.0;
  EXPECT_EQ(pareto.n, 250U);
  EXPECT_DOUBLE_EQ(pareto.top[0], 250 / total);                // ceil(0.25) = 1.
  EXPECT_DOUBLE_EQ(pareto.top[1], (250 + 249 + 248) / total);  // ceil(2.5) = 3.
  EXPECT_DOUBLE_EQ(pareto.top[3], (250 + 226) * 25 / 2.0 / total);
  EXPECT_LE(pareto.points.size(), 64U);
  EXPECT_DOUBLE_EQ(pareto.points.back().share, 1);
  for (std::size_t i = 1; i < pareto.points.size(); ++i) {
    EXPECT_GT(pareto.points[i].items, pareto.points[i - 1].items);
    EXPECT_GE(pareto.points[i].share, pareto.points[i - 1].share);
  }
  std::vector<double> zeros(1000);
  std::copy(values.begin(), values.end(), zeros.begin());
  const Pareto with = pareto_of(zeros);
  const Pareto without = pareto_of(values, 1000);
  EXPECT_EQ(without.n, 1000U);
  EXPECT_EQ(without.top, with.top);
  ASSERT_EQ(without.points.size(), with.points.size());
  for (std::size_t i = 0; i < with.points.size(); ++i) {
    EXPECT_DOUBLE_EQ(without.points[i].items, with.points[i].items);
    EXPECT_DOUBLE_EQ(without.points[i].share, with.points[i].share);
  }
  std::vector<double> nothing{0, 0};
  EXPECT_TRUE(pareto_of(nothing).points.empty());
}

TEST(Report, TheTrendSaysWhetherItMayBeChance) {
  Fleet worse;
  Fleet alike;
  for (int i = 0; i < 60; ++i) {
    const double noise = 0.01 * (i % 10);
    worse.add({.id = "x", .start = i % 12, .hours = 1, .utilisation = 0.8 + noise});
    worse.add({.id = "x", .start = 12 + i % 12, .hours = 1, .utilisation = 0.5 + noise});
    alike.add({.id = "x", .start = i % 24, .hours = 1, .utilisation = i % 3 ? 0.2 : 0.9});
  }
  const Trend up = *worse.report().trend;
  EXPECT_TRUE(up.can_tell);
  EXPECT_NEAR(up.change, 0.3, 1e-9);
  EXPECT_EQ(up.says,
            "15.5 % of observed time wasted in the first half (60 jobs), 45.5 % in the second (60 "
            "jobs): up by 30.0 points (95 % interval over jobs +28.9 to +31.1)");
  EXPECT_FALSE(alike.report().trend->can_tell);

  Fleet few;
  few.add({.id = "1", .start = 0, .utilisation = 0.5});
  EXPECT_FALSE(few.report().trend);
  few.add({.id = "2", .start = 20, .utilisation = 0.25});
  EXPECT_EQ(
      few.report().trend->says,
      "50.0 % of observed time wasted in the first half (1 job), 75.0 % in the second (1 job): "
      "too few jobs to tell");
}

TEST(Report, SlicesFollowTheTimeline) {
  // Idle in the first half, busy in the second: only its timeline can tell.
  std::vector<float> lane(640, 0.0F);
  std::fill(lane.begin() + 320, lane.end(), 1.0F);
  const FleetUsage usage = fleet_of({lane}, 60);
  const Report report =
      scan::report(usage, families_of(usage, *Recogniser::make({})), {}, {.slices = 4});
  ASSERT_EQ(report.slices.size(), 4U);
  EXPECT_NEAR(report.slices[0].split.idle, 160 * 60, 1);
  EXPECT_NEAR(report.slices[1].split.idle, 160 * 60, 1);
  EXPECT_NEAR(report.slices[2].split.productive, 160 * 60, 1);
  EXPECT_NEAR(report.slices[3].split.idle, 0, 1);
}

TEST(Report, CapacityIsNotKnownUnlessTold) {
  Fleet fleet;
  fleet.add({.id = "1", .hours = 10, .utilisation = 0.5});
  const Report blind = fleet.report();
  EXPECT_FALSE(blind.capacity.total);
  EXPECT_FALSE(blind.capacity.down);
  EXPECT_FALSE(blind.capacity.unallocated);
  EXPECT_DOUBLE_EQ(blind.capacity.low, 5 * kHour);

  HostCapacity host;
  host.host = fleet.usage.words.intern("gpu1");
  host.accelerators = 2;
  host.told = true;
  fleet.usage.capacities.push_back(host);
  const Report counted = fleet.report();
  EXPECT_EQ(counted.capacity.basis, "counts of accelerators");
  EXPECT_DOUBLE_EQ(*counted.capacity.total, 48 * kHour);
  EXPECT_DOUBLE_EQ(*counted.capacity.unallocated, 38 * kHour);
  EXPECT_FALSE(counted.capacity.down);

  // Events of nodes say what was down of those that are counted.
  fleet.usage.occupied.push_back({.partition = 0, .total = 0, .allocated = 0, .down = 8 * kHour});
  const Report events = fleet.report();
  EXPECT_EQ(events.capacity.basis, "counts of accelerators");
  EXPECT_DOUBLE_EQ(*events.capacity.down, 8 * kHour);
  EXPECT_DOUBLE_EQ(*events.capacity.unallocated, 30 * kHour);
  fleet.usage.occupied.clear();

  fleet.usage.occupied.push_back({.partition = fleet.usage.words.intern("p"),
                                  .total = 100 * kHour,
                                  .allocated = 30 * kHour,
                                  .down = 5 * kHour});
  const Report occupied = fleet.report();
  EXPECT_EQ(occupied.capacity.basis, "occupancy over time");
  EXPECT_DOUBLE_EQ(*occupied.capacity.down, 5 * kHour);
  EXPECT_DOUBLE_EQ(*occupied.capacity.unallocated, 65 * kHour);
  EXPECT_DOUBLE_EQ(occupied.capacity.unobserved, 20 * kHour);
  ASSERT_EQ(occupied.partitions.size(), 1U);
  EXPECT_EQ(occupied.partitions[0].partition, "p");
}

// Large enough for every table to grow several times; sums and ranks must hold in any cut.
TEST(Report, AMadeUpFleetAddsUp) {
  const FleetUsage usage = made_fleet({.jobs = 100'000, .seed = 7, .observed = true});
  const Report report =
      scan::report(usage, families_of(usage, *Recogniser::make({})), {}, {.rows = 0});
  EXPECT_EQ(report.totals.users, 5'000U);
  EXPECT_EQ(report.cut(By::kNode).count, 4'000U);
  for (const Cut& cut : report.cuts) {
    SCOPED_TRACE(name(cut.by));
    ASSERT_EQ(cut.rows.size(), cut.count);
    double allocated = 0;
    std::uint64_t jobs = 0;
    for (std::size_t i = 0; i < cut.rows.size(); ++i) {
      allocated += cut.rows[i].split.allocated;
      jobs += cut.rows[i].jobs;
      const double before = cut.rows[i > 0 ? i - 1 : 0].recoverable;
      ASSERT_GE(before, cut.rows[i].recoverable);
    }
    EXPECT_EQ(jobs, 100'000U);
    EXPECT_NEAR(allocated, report.totals.split.allocated, 1e-9 * allocated);
  }
  double sliced = 0;
  for (const Slice& slice : report.slices) sliced += slice.split.allocated;
  EXPECT_NEAR(sliced, report.totals.split.allocated, 1e-9 * sliced);
}

// Odd fleets: no time, no samples, shared accelerators, bins beside the job's time, no hosts.
FleetUsage odd_fleet(unsigned seed) {
  std::mt19937 random(seed);
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  FleetUsage usage;
  usage.window = {.start = hours{1000}, .end = hours{1000 + upto(48)}};
  const int jobs = upto(30);
  for (int i = 0; i < jobs; ++i) {
    FleetJob job;
    job.id = usage.words.intern_job(std::to_string(upto(20)));
    job.name = usage.words.intern(upto(3) ? "n" + std::to_string(upto(5)) : "");
    job.hosts = usage.words.intern(upto(2) ? "gpu[1-3]" : "");
    job.state = static_cast<model::JobState>(upto(9));
    job.start = hours{990 + upto(40)};
    job.end = job.start + std::chrono::minutes{upto(3000)};
    job.running = upto(5) == 0;
    job.lane = static_cast<std::uint32_t>(usage.lanes.size());
    job.lanes = static_cast<std::uint32_t>(upto(4));
    job.accelerators = static_cast<float>(job.lanes + static_cast<unsigned>(upto(2)));
    const Nanos wall =
        std::min(job.end, usage.window.end) - std::max(job.start, usage.window.start);
    for (std::uint32_t l = 0; l < job.lanes; ++l) {
      Lane lane;
      lane.host = usage.words.intern(upto(3) ? "gpu1" : "");
      lane.allocated = std::max(wall, Nanos{});
      lane.weight = upto(1) ? 1 : 0.25;
      lane.bin = static_cast<std::uint32_t>(usage.bins.size());
      lane.bins = static_cast<std::uint32_t>(upto(1) * upto(64));
      lane.bin_width = std::chrono::minutes{1 + upto(100)};
      lane.bin_start = job.start + std::chrono::minutes{upto(200) - 100};
      for (std::uint32_t b = 0; b < lane.bins; ++b) {
        Bin bin;
        bin.samples = static_cast<std::uint32_t>(upto(4));
        bin.idle = std::min<std::uint32_t>(bin.samples, static_cast<std::uint32_t>(upto(4)));
        bin.sum = static_cast<float>(bin.samples - bin.idle) * static_cast<float>(upto(100)) / 100;
        lane.samples += bin.samples;
        lane.idle += bin.idle;
        lane.utilisation += bin.sum;
        usage.bins.push_back(bin);
      }
      if (lane.samples > 0) lane.observed = lane.allocated / (1 + upto(2));
      job.split += split_of(lane);
      usage.lanes.push_back(lane);
    }
    usage.jobs.push_back(job);
  }
  return usage;
}

TEST(Report, OddFleetsAddUp) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const FleetUsage usage = odd_fleet(seed);
    const Report report =
        scan::report(usage, families_of(usage, *Recogniser::make({})), {}, {.rows = 0});
    const Split& all = report.totals.split;
    const double off = 1e-5 * all.allocated + 1e-6;
    EXPECT_NEAR(all.allocated, all.unobserved + observed_in(all), off);
    for (const Cut& cut : report.cuts) {
      SCOPED_TRACE(name(cut.by));
      Split split;
      double recoverable = 0;
      for (const Row& row : cut.rows) {
        split += row.split;
        recoverable += row.recoverable;
      }
      EXPECT_NEAR(split.allocated, all.allocated, off);
      EXPECT_NEAR(wasted(split), wasted(all), off);
      EXPECT_NEAR(recoverable, report.totals.recoverable, off);
      EXPECT_LE(recoverable, wasted(all) + off);
    }
    Split sliced;
    for (const Slice& slice : report.slices) sliced += slice.split;
    EXPECT_NEAR(sliced.allocated, all.allocated, off);
    EXPECT_NEAR(wasted(sliced), wasted(all), off);
    for (const FleetJob& job : usage.jobs) {
      EXPECT_FALSE(draw(anatomy_of(usage, job, "family"), 80, true).empty());
    }
  }
}

}  // namespace
}  // namespace amdahl::scan
