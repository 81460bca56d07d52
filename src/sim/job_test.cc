#include "sim/job.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compare/compare.h"
#include "sim/production.h"
#include "stats/estimate.h"

namespace amdahl::sim {
namespace {

Job job_of(Kind kind, double pair_noise = 0.01) {
  Truth truth;
  truth.kind = kind;
  truth.noise = pair_noise;
  truth.pair_hours = 0.5;
  return {5, 0, 0, {truth}, find_scenario("clean")->noise(pair_noise), Prices{}};
}

model::Pair order_of(int index, const std::string& purpose = "compare") {
  model::Pair order;
  order.experiment = "x-0000000000";
  order.aim = *model::aim_in(purpose);
  order.index = index;
  order.variant_second = index % 2 == 0;
  return order;
}

double typical(Job& job, const std::string& purpose, const std::string& stratum = "") {
  std::vector<double> d;
  for (int i = 1; i <= 60; ++i) {
    model::Pair order = order_of(i, purpose);
    order.stratum = stratum;
    if (const auto one = compare::log_ratio(job.run(order).front())) d.push_back(*one);
  }
  return stats::median(d);
}

TEST(Job, PairsAreAsNoisyAsSaid) {
  Job job = job_of(Kind::kNull, 0.05);
  double squares = 0;
  int sound = 0;
  for (int i = 1; i <= 4000; ++i) {
    const model::PairFact pair = job.run(order_of(i)).front();
    if (!model::same(pair.a.host, pair.b.host).value_or(false)) continue;
    squares += std::pow(*compare::log_ratio(pair), 2);
    ++sound;
  }
  EXPECT_NEAR(std::sqrt(squares / sound), 0.05, 0.003);
}

// What a targeted pair is for, it shows.
TEST(Job, TargetedPairsShowTheTruthOfTheirKind) {
  struct Case {
    Kind kind;
    const char* purpose;
    const char* stratum;
    double want;
  };
  const Case kCases[] = {
      {Kind::kNull, "compare", "", 0},
      {Kind::kSlow, "compare", "", -0.05},
      {Kind::kSkip, "compare", "", 0.30},
      {Kind::kOrder, "compare", "", 0.08},
      {Kind::kHost, "compare", "", 0.10},
      {Kind::kHost, "top-up:host", "", 0},
      {Kind::kHarness, "compare", "", 0.05},
      {Kind::kHarness, "top-up:aa", "", 0.05},
      {Kind::kSkip, "top-up:aa", "", 0},
      {Kind::kSimpson, "compare", "small", 0.12},
      {Kind::kSimpson, "compare", "large", -0.10},
      {Kind::kTimeOfDay, "top-up:tod", "", -0.08},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(row_of(c.kind).name) + " " + c.purpose + " " + c.stratum);
    Job job = job_of(c.kind);
    EXPECT_NEAR(typical(job, c.purpose, c.stratum), c.want, 0.01);
  }
}

TEST(Job, TheCoinIsIgnoredByOneKindAlone) {
  Job sound = job_of(Kind::kWarm);
  Job broken = job_of(Kind::kOrder);
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(sound.run(order_of(i)).front().ran_variant_second, i % 2 == 0);
    EXPECT_EQ(broken.run(order_of(i)).front().ran_variant_second, true);
  }
  model::Pair first = order_of(21, "top-up:order");
  first.variant_second = false;
  EXPECT_EQ(broken.run(first).front().ran_variant_second, false);
}

TEST(Job, ABlockComparesAllVariantsWithOneBaseline) {
  std::vector<Truth> truths(3);
  truths[1].kind = Kind::kSlow;
  Job job(5, 0, 0, truths, find_scenario("base")->noise(0.01), Prices{});
  model::Pair order = order_of(1);
  order.shared = {{"x-0000000001", {}, 1, true, {}}, {"x-0000000002", {}, 1, false, {}}};
  order.order = {2, 0, 3, 1};
  const auto facts = job.run(order);
  ASSERT_EQ(facts.size(), 3U);
  for (const model::PairFact& fact : facts) {
    EXPECT_EQ(fact.a.cost, facts[0].a.cost);
    EXPECT_EQ(fact.a.failed, facts[0].a.failed);
  }
}

TEST(Production, TheCanaryFindsWhatFailsMoreOftenAndKeepsWins) {
  int failing = 0;
  int wins = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Truth truth;
    truth.past_runs = 200;
    const Noise noise = find_scenario("base")->noise(truth.noise);
    truth.kind = Kind::kFail;
    const auto is_proposed = [&] {
      return watch(truth, noise, 0.1, seed).outcome == model::CanaryState::kRollbackProposed;
    };
    failing += is_proposed() ? 1 : 0;
    truth.kind = Kind::kWin;
    truth.effect = 0.1;
    wins += is_proposed() ? 1 : 0;
  }
  EXPECT_GE(failing, 19);
  EXPECT_LE(wins, 2);
}

}  // namespace
}  // namespace amdahl::sim
