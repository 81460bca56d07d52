#include "canary/later.h"

#include <cmath>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace amdahl::canary {
namespace {

constexpr Nanos kPromoted = std::chrono::hours(24 * 20500);  // 2026-02-16.

struct History {
  std::vector<LaterJob> jobs;
  double saved = 0;  // In truth.
};

struct Fleet {
  double effect = 0.15;  // ln(cost without / cost with).
  double drift = 0.01;   // Of ln cost, a job.
  double noise = 0.05;
  int one_in = 0;  // One later job in this many is held back; 0: none is.
};

// 60 jobs before the promotion and `later` after it, eight a day. One in 25 straggles.
History history_of(const Fleet& fleet, unsigned seed, int later) {
  std::mt19937_64 luck(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> even;
  History history;
  double level = 0;
  for (int i = -60; i < later; ++i) {
    LaterJob job;
    job.id = fmt::format("j-{}", i);
    job.start = kPromoted + i * Nanos(std::chrono::hours(3));
    const bool held = fleet.one_in > 0 && i >= 0 && i % fleet.one_in == 0;
    const bool with = i >= 0 && !held;
    if (fleet.one_in > 0 && i >= 0) {
      job.changes = held ? std::vector<std::string>{} : std::vector<std::string>{"h-1"};
    }
    level += fleet.drift * normal(luck);
    const double slow = even(luck) < 0.04 ? 0.5 * even(luck) : 0;
    const double without = 3600 * std::exp(level + fleet.noise * normal(luck) + slow);
    job.accelerator_s = with ? without * std::exp(-fleet.effect) : without;
    job.failed = even(luck) < 0.03;
    if (with && !job.failed) history.saved += without - job.accelerator_s;
    history.jobs.push_back(std::move(job));
  }
  return history;
}

const std::vector<InEffect> kOne = {{"h-1", 0.15, kPromoted, {}}};

struct Bill {
  double saved = 0;
  double lower = 0;
  double upper = 0;
};
Bill bill_of(const Realised& realised) {
  Bill bill;
  for (const MonthSaved& month : realised.months) {
    bill.saved += month.saved;
    bill.lower += month.lower;
    bill.upper += month.upper;
  }
  return bill;
}

TEST(Later, TheIntervalOf200LaterJobsCoversWhatTheySaved) {
  const Fleet fleets[] = {{.drift = 0}, {}, {.drift = 0.02}, {.effect = 0.03}, {.one_in = 10}};
  for (const Fleet& fleet : fleets) {
    SCOPED_TRACE(
        fmt::format("effect {} drift {} one in {}", fleet.effect, fleet.drift, fleet.one_in));
    int covered = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      const History history = history_of(fleet, seed, 200);
      const auto all = realised(kOne, history.jobs);
      ASSERT_TRUE(all);
      const Bill bill = bill_of(*all);
      covered += bill.lower <= history.saved && history.saved <= bill.upper ? 1 : 0;
      EXPECT_LE(bill.lower, bill.saved);
      EXPECT_LE(bill.saved, bill.upper);
    }
    EXPECT_GE(covered, 90);
  }
}

TEST(Later, ARegressionRaisesAnAlarmWithin60Jobs) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto all = realised(kOne, history_of({.effect = -0.25}, seed, 60).jobs);
    alarms += all && all->alarm == "h-1" ? 1 : 0;
  }
  EXPECT_GE(alarms, 95);
}

// Looked at after every fifth job.
TEST(Later, AChangeThatDoesWhatItShouldOrNothingRaisesNone) {
  for (const double effect : {0.15, 0.0}) {
    int alarms = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
      const History history = history_of({.effect = effect}, seed, 200);
      bool alarm = false;
      for (std::size_t seen = 70; seen <= history.jobs.size() && !alarm; seen += 5) {
        const auto all = realised(
            kOne, {history.jobs.begin(), history.jobs.begin() + static_cast<std::ptrdiff_t>(seen)});
        alarm = all && !all->alarm.empty();
      }
      alarms += alarm ? 1 : 0;
    }
    EXPECT_LE(alarms, 2) << effect;
  }
}

TEST(Later, MonthsAreUtcAndHoldOnlyJobsWithAChange) {
  const auto all = realised(kOne, history_of({}, 1, 200).jobs);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->months.size(), 2U);
  EXPECT_EQ(all->months[0].month, "2026-02");
  EXPECT_EQ(all->months[1].month, "2026-03");
  EXPECT_LE(all->months[0].jobs + all->months[1].jobs, 200);
  EXPECT_EQ(all->changes.at(0).hypothesis, "h-1");
  EXPECT_EQ(all->changes.at(0).jobs, all->months[0].jobs + all->months[1].jobs);
}

TEST(Later, AChangeThatWasRolledBackSavesNothingAfterwards) {
  const Nanos until = kPromoted + Nanos(std::chrono::hours(240));
  const std::vector<InEffect> changes = {{"h-1", 0.15, kPromoted, until}};
  const auto all = realised(changes, history_of({}, 3, 200).jobs);
  ASSERT_TRUE(all);
  EXPECT_LE(all->months.at(0).jobs, 80);
  EXPECT_EQ(all->months.size(), 1U);
  EXPECT_EQ(all->alarm, "");
}

TEST(Later, TwoChangesAtOnceAreKnownByWhatTheySaveTogether) {
  const std::vector<InEffect> both = {{"h-1", 0.1, kPromoted, {}}, {"h-2", 0.05, kPromoted, {}}};
  const History history = history_of({}, 5, 200);
  const auto all = realised(both, history.jobs);
  ASSERT_TRUE(all);
  EXPECT_GT(all->changes[0].upper - all->changes[0].lower, 1);
  const Bill bill = bill_of(*all);
  EXPECT_GT(bill.lower, 0);
  EXPECT_LE(bill.lower, history.saved);
  EXPECT_GE(bill.upper, history.saved);
  const auto slow = realised(both, history_of({.effect = -0.25}, 5, 60).jobs);
  EXPECT_EQ(slow->alarm, "h-2") << "the newest";
}

TEST(Later, TooFewJobsAreNoAnswerAndOneJobTwiceIsOne) {
  EXPECT_FALSE(realised(kOne, history_of({}, 1, 5).jobs));
  EXPECT_FALSE(realised({}, history_of({}, 1, 200).jobs));
  History history = history_of({}, 1, 200);
  const auto once = realised(kOne, history.jobs);
  const std::vector<LaterJob> again = history.jobs;
  history.jobs.insert(history.jobs.end(), again.begin(), again.end());
  EXPECT_EQ(realised(kOne, history.jobs)->months[0].jobs, once->months[0].jobs);
}

}  // namespace
}  // namespace amdahl::canary
