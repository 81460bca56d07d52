// power_test.cc: how often a canary is right, over seeded repetitions that look after every run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "canary/fake_production.h"

namespace amdahl::canary {
namespace {

using model::CanaryState;

struct Tally {
  double alarms = 0;  // Share of repetitions.
  double runs = 0;    // With the change, on average, until it is decided.
};

// The seed of a canary draws its coins, so each repetition has its own.
Tally repeat(const Truth& truth, int repetitions, const model::Canary& canary = terms()) {
  Tally tally;
  for (int i = 0; i < repetitions; ++i) {
    model::Canary one = canary;
    one.seed = fmt::format("seed {}", i);
    FakeProduction production({one}, truth, static_cast<unsigned>(i));
    const model::CanaryResult result = production.watch();
    tally.alarms += result.outcome == CanaryState::kRollbackProposed ? 1 : 0;
    tally.runs += result.runs;
  }
  tally.alarms /= repetitions;
  tally.runs /= repetitions;
  return tally;
}

// 5 % of alarms for a broken promise and 1 % for failing, at most.
TEST(Power, AChangeThatKeepsHalfOfItsPromiseRaisesAnAlarmInFewerThanOneOfTwenty) {
  EXPECT_LE(repeat({.effect = terms().promised / 2}, 1000).alarms, 0.06);
}

TEST(Power, NoiseFarBeyondWhatWasThoughtStaysWithinTheBounds) {
  EXPECT_LE(repeat({.effect = terms().promised / 2, .noise = 0.20}, 1000).alarms, 0.06);
}

// What looked like a win in the experiment alone is found out in production.
TEST(Power, AChangeThatDoesNothingOfWhatItPromisedIsCaught) {
  EXPECT_GE(repeat({}, 300).alarms, 0.75);
}

TEST(Power, FivePercentSlowerIsCaught) {
  const Tally tally = repeat({.effect = -0.05}, 300);
  EXPECT_GE(tally.alarms, 0.80);
  EXPECT_LE(tally.runs, 130);
}

TEST(Power, TenPercentSlowerIsCaughtSooner) {
  const Tally tally = repeat({.effect = -0.10}, 300);
  EXPECT_GE(tally.alarms, 0.97);
  EXPECT_LE(tally.runs, 75);
}

TEST(Power, FailingFiveTimesAsOftenIsCaughtWithinAHundredRuns) {
  const Tally tally = repeat({.effect = 0.10, .fails_with = 0.20}, 300);
  EXPECT_GE(tally.alarms, 0.90);
  EXPECT_LE(tally.runs, 100);
}

// One in 30 runs straggles for reasons of its own. A change that makes most runs a little faster
// and one in ten far slower wins nearly every couple.
TEST(Power, AChangeThatHurtsAFewInputsIsCaughtByItsStragglers) {
  model::Canary canary = terms();
  canary.straggles_from = 0.3;
  canary.past_stragglers = 1;
  const Tally hurts = repeat({.effect = 0.06, .hurts_share = 0.1, .hurts = 0.55}, 300, canary);
  EXPECT_GE(hurts.alarms, 0.90);
  const Tally helps = repeat({.effect = 0.06}, 1000, canary);
  EXPECT_LE(helps.alarms, 0.05);
  canary.straggles_from = 0;
  EXPECT_LE(repeat({.effect = 0.06, .hurts_share = 0.1, .hurts = 0.55}, 100, canary).alarms, 0.2)
      << "the couples alone do not see it";
}

TEST(Power, AGoodChangeIsKeptAndASureOneEarly) {
  const Tally tally = repeat({.effect = 0.10}, 300);
  EXPECT_LE(tally.alarms, 0.03);
  EXPECT_LE(tally.runs, 150) << "half of the promise is proven before the 200 are over";
  EXPECT_GE(tally.runs, 100) << "but failures had their time to show";
}

}  // namespace
}  // namespace amdahl::canary
