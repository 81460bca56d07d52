// One person who waits for one job: how many runs the first win takes, and what is not run at all.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "loop/experiments.h"
#include "loop/testing.h"

namespace amdahl::loop {
namespace {

Settings for_one_job() {
  Settings settings;
  settings.per_family = 3;
  settings.wins_first = true;
  settings.same_in_blocks = true;
  settings.same_first = 2;
  settings.parked_below = 0.0025;
  settings.idle_from = 0.0012;
  settings.other_contention = false;
  return settings;
}

class OneJobTest : public testing::Test {
 protected:
  OneJobTest() {
    FamilyRecord record;
    record.spec.family = "train";
    record.spec.command = {"train"};
    record.spec.outputs.push_back({"{out}/x", true});
    record.spec.inputs.push_back("data/*");
    record.state.name = "train";
    record.state.volume_accelerator_h_per_day = 100;
    record.state.profiled = true;
    EXPECT_TRUE(experiments.add(std::move(record)));
  }

  void idea(const std::string& id, double gain, double prior) {
    model::Hypothesis h;
    h.id = id;
    h.family = "train";
    h.title = id;
    h.change.args["--" + id] = "1";
    h.predicted_gain = gain;
    h.ceiling_share = 0.9;
    h.prior = prior;
    experiments.add(h);
  }

  void act_all() {
    for (bool acted = true; acted && effects.all<GateOpened>().empty();) {
      acted = false;
      for (const Intent& intent : experiments.plan()) {
        const auto done = experiments.act(intent, effects);
        ASSERT_TRUE(done) << done.error().text;
        if ((acted = *done)) break;
      }
    }
  }

  model::PairFact measured(const model::Pair& pair, double noise) {
    const auto effect = effect_of.find(pair.experiment);
    const double d = effect == effect_of.end() ? 0 : effect->second;
    model::PairFact fact = fact_of(pair, d + noise * (pair.index * 7 % 5 - 2));
    const bool dear = dear_at.contains(pair.index) || dear_pairs > 0;
    if (!pair.experiment.empty() && dear) {
      --dear_pairs;
      fact.voided = fact.b.failed = true;
      fact.b.never_runs = model::NeverRuns::kTooDear;
      fact.b.failure = "too dear";
    }
    return fact;
  }

  // One block or pair after the other, as on a machine that holds one run, until nothing is wished
  // for or something waits at the gate.
  void work(double noise) {
    for (int round = 0; round < 200; ++round) {
      act_all();
      if (!effects.all<GateOpened>().empty()) return;
      std::optional<model::Pair> order;
      for (const Intent& wish : one_by_one(experiments.plan())) {
        if ((order = experiments.order_for(wish))) break;
      }
      if (!order) return;
      runs += 2 + static_cast<int>(order->shared.size());
      experiments.began(*order);
      experiments.ended(ended(*order, measured(*order, noise)));
      for (const model::SharedVariant& variant : order->shared) {
        model::Pair own = pair_of(variant, *order);
        model::PairFact fact = measured(own, noise);
        fact.block = "r-leader";
        experiments.ended(ended(own, fact));
      }
    }
    FAIL() << "it never came to rest";
  }

  int runs = 0;
  int dear_pairs = 0;       // The next ones of experiments that are stopped as too dear,
  std::set<int> dear_at{};  // and those of these indices.
  std::map<std::string, double> effect_of;  // Of experiments.
  RecordedEffects effects;
  Experiments experiments{for_one_job(), CampaignRecord{"", "0", {9, 0.1, 0}, 0}, Circumstances{}};
};

// Two runs to learn the job and two for its profile come before these: 28 of 20 s are 9 min 20 s.
TEST_F(OneJobTest, TheFirstWinTakes24Runs) {
  idea("one-slot", 0.4, 0.5);
  idea("smaller", 0.1, 0.3);
  effect_of["x-one-slot"] = 0.5;
  work(0.004);
  ASSERT_EQ(effects.all<GateOpened>().size(), 1U);
  EXPECT_EQ(effects.all<GateOpened>()[0].experiment, "x-one-slot");
  EXPECT_EQ(runs, 24) << "2 A/A pairs, 8 pairs with 4 more A/A runs in their blocks";
  EXPECT_EQ(experiments.state().families[0].same_pairs, 6);
  EXPECT_EQ(experiments.state().registered, 1) << "the other idea waited";
}

TEST_F(OneJobTest, IdeasOfAboutOneWorthShareTheirBaseline) {
  idea("first", 0.2, 0.4);
  idea("second", 0.2, 0.35);
  effect_of["x-second"] = 0.3;
  work(0.004);
  ASSERT_EQ(effects.all<GateOpened>().size(), 1U);
  EXPECT_EQ(effects.all<GateOpened>()[0].experiment, "x-second");
  EXPECT_LE(runs, 30);
}

TEST_F(OneJobTest, WhatNoiseWouldHideIsNotTested) {
  idea("small", 0.02, 0.2);
  work(0.1);
  EXPECT_EQ(runs, 4) << "the two A/A pairs that tell the noise";
  EXPECT_EQ(experiments.state().registered, 0);
  EXPECT_NEAR(experiments.state().families[0].noise, 0.3, 1e-9) << "of two pairs the larger counts";
  EXPECT_TRUE(settled(experiments.state()));
}

TEST_F(OneJobTest, OnePairThatIsTooDearClosesNothingAndTwoDo) {
  idea("unlucky", 0.4, 0.5);
  effect_of["x-unlucky"] = 0.5;
  dear_pairs = 1;
  work(0.004);
  ASSERT_EQ(effects.all<GateOpened>().size(), 1U);
  idea("dear", 0.4, 0.5);
  dear_pairs = 2;
  effects.happened.clear();
  work(0.004);
  ASSERT_EQ(effects.all<Judged>().size(), 1U);
  EXPECT_EQ(effects.all<Judged>()[0].verdict.kind, model::VerdictKind::kInvalid);
}

// A job that is itself slow now and then makes a good change look dear beside a fast run.
TEST_F(OneJobTest, TwoDearPairsAmongMoreGoodOnesCloseNothing) {
  idea("uneven", 0.4, 0.5);
  effect_of["x-uneven"] = 0.5;
  dear_at = {4, 6};
  work(0.004);
  for (const Judged& judged : effects.all<Judged>()) {
    EXPECT_NE(judged.verdict.kind, model::VerdictKind::kInvalid) << judged.verdict.reason;
  }
}

TEST_F(OneJobTest, WhatShowsNothingIsLeftAfterAFewPairs) {
  idea("idle", 0.1, 0.3);
  work(0.01);
  EXPECT_TRUE(effects.all<GateOpened>().empty());
  EXPECT_LE(runs, 4 + 3 * 4);
  EXPECT_TRUE(settled(experiments.state()));
}

}  // namespace
}  // namespace amdahl::loop
