#include <cmath>

#include <gtest/gtest.h>

#include "loop/experiments.h"
#include "loop/testing.h"
#include "model/plan.h"
#include "model/spec_digest.h"
#include "stats/campaign.h"

namespace amdahl::loop {
namespace {

using model::Purpose;
using model::Stage;
using model::VerdictKind;

// Experiments that wait at the gate, each of a family of its own unless told otherwise.
class GateTest : public testing::Test {
 protected:
  FamilyRecord family(const std::string& name) {
    FamilyRecord record;
    record.spec.family = record.state.name = name;
    record.spec.command = {"job"};
    record.spec.outputs = {{"{out}/x", true}};
    record.spec.inputs = {"x"};
    record.state.profiled = true;
    for (int i = 1; i <= 6; ++i) {
      model::Pair pair;
      pair.index = i;
      pair.aim.purpose = Purpose::kSame;
      record.same.push_back(fact_of(pair, i % 2 == 0 ? 0.01 : -0.01));
    }
    return record;
  }

  void add(const std::string& id, const model::Spec& spec, Stage stage) {
    model::Hypothesis h;
    h.id = "h-" + id;
    h.family = spec.family;
    h.title = id;
    h.change.env["V"] = id;
    h.predicted_gain = 0.1;
    h.ceiling_share = 0.5;
    experiments.add(h);
    model::Experiment e;
    e.id = "x-" + id;
    e.hypothesis = h.id;
    e.family = spec.family;
    e.campaign = "c-1";
    e.metric = spec.metric;
    e.lower_is_better = spec.lower_is_better;
    e.spec = field_digests(spec);
    e.sigma = 0.02;
    e.claim = 0.1;
    e.delta = 0.05;
    e.baseline = digest(*make_plan(spec, {}));
    ASSERT_TRUE(experiments.add(e, stage, {}, seen));
  }

  void feed(const std::string& id, const std::string& of, double d, Purpose purpose) {
    model::Pair pair;
    pair.family = of;
    pair.experiment = id;
    pair.aim.purpose = purpose;
    pair.index = ++fed[id];
    pair.variant_second = pair.index % 2 == 1;
    experiments.began(pair);
    model::PairFact fact = fact_of(pair, d);
    fact.a.started_s = fact.b.started_s = 7200.0 * pair.index;
    experiments.ended(ended(pair, fact));
  }

  // Acts until there is nothing to decide.
  void rest() {
    for (bool acted = true; acted;) {
      acted = false;
      for (const Intent& intent : experiments.plan()) {
        const auto did = experiments.act(intent, effects);
        ASSERT_TRUE(did) << did.error().text;
        acted = *did;
        if (acted) break;
      }
    }
  }

  const ExperimentState* state_of(const std::string& id) const {
    for (const ExperimentState& x : experiments.state().experiments) {
      if (x.id == id) return &x;
    }
    return nullptr;
  }

  static Settings settings() {
    Settings settings;
    settings.other_contention = false;
    settings.per_family = 4;
    settings.replicate_at_most = 24;
    return settings;
  }

  static model::Comparison proof() {
    model::Comparison comparison;
    comparison.log_e_win = std::log(5000);
    comparison.effect = 0.12;
    comparison.shrunk = 0.1;
    return comparison;
  }

  std::map<std::string, int> fed;
  model::Comparison seen = proof();  // By the panel, of what is added.
  RecordedEffects effects;
  Experiments experiments{settings(), {"c-1", "5eed", {200, 0.10, 0}, 2}, {}};
};

TEST_F(GateTest, AnApprovalClosesMovesTheBaselineAndCounts) {
  FamilyRecord eval = family("eval");
  eval.stack = {{"h-old", {}}};
  eval.stack[0].change.env["OLD"] = "1";
  eval.baseline = eval.stack[0].change;
  const model::Spec spec = eval.spec;
  ASSERT_TRUE(experiments.add(std::move(eval)));
  add("1", spec, Stage::kGate);
  const auto late = experiments.decide("x-1", {true, "ada", "fine"}, effects);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().text.find("was measured on an older baseline of eval"), std::string::npos);
  ASSERT_TRUE(experiments.decide("x-1", {false, "ada", "too late"}, effects));
  EXPECT_EQ(effects.all<Judged>().back().verdict.kind, VerdictKind::kDeclined);
  EXPECT_EQ(experiments.state().campaign.promoted, 0) << "declined: the level does not fall";

  ASSERT_TRUE(experiments.add(family("train")));
  add("2", experiments.family("train").spec, Stage::kGate);
  ASSERT_TRUE(experiments.decide("x-2", {true, "ada", "fine"}, effects));
  EXPECT_EQ(effects.all<GateDecided>().back().decision.actor, "ada");
  EXPECT_EQ(effects.all<Judged>().back().verdict.kind, VerdictKind::kPromoted);
  EXPECT_EQ(effects.all<Judged>().back().verdict.comparison->effect, 0.12)
      << "as the person saw it";
  EXPECT_EQ(effects.all<BaselineMoved>().back().baseline.env.at("V"), "2");
  EXPECT_NEAR(effects.all<SavingBooked>().back().predicted_share, 0.095, 0.001);
  EXPECT_EQ(effects.all<WatchBegan>().back().before, model::Change{});
  EXPECT_EQ(experiments.state().campaign.promoted, 1);
  EXPECT_EQ(experiments.family("train").stack.size(), 1U);
  EXPECT_EQ(state_of("x-2"), nullptr);
}

TEST_F(GateTest, ARollbackFoldsTheRestOfTheStackAndGivesNothingBack) {
  ASSERT_TRUE(experiments.add(family("eval")));
  add("1", experiments.family("eval").spec, Stage::kGate);
  ASSERT_TRUE(experiments.decide("x-1", {true, "ada", "fine"}, effects));
  ASSERT_FALSE(experiments.roll_back("eval", "h-9", "ada", "dear", effects));
  ASSERT_FALSE(experiments.roll_back("eval", "h-1", "ada", " ", effects));
  ASSERT_TRUE(experiments.roll_back("eval", "h-1", "ada", "dear", effects));
  EXPECT_EQ(effects.all<RolledBack>().back().baseline, model::Change{});
  EXPECT_EQ(experiments.family("eval").baseline, model::Change{});
  EXPECT_TRUE(experiments.family("eval").stack.empty());
  EXPECT_EQ(experiments.state().campaign.promoted, 1);
}

TEST_F(GateTest, OnlyAVerdictThatBlocksIsReopenedAndOnlyOutsideTheStack) {
  ASSERT_TRUE(experiments.add(family("eval")));
  add("1", experiments.family("eval").spec, Stage::kGate);
  const model::Hypothesis h = experiments.hypothesis("h-1");
  EXPECT_FALSE(experiments.reopen({h, VerdictKind::kAborted}, "ada", "again", effects));
  ASSERT_TRUE(experiments.decide("x-1", {true, "ada", "fine"}, effects));
  const auto stacked = experiments.reopen({h, VerdictKind::kPromoted}, "ada", "again", effects);
  ASSERT_FALSE(stacked);
  EXPECT_NE(stacked.error().text.find("gate rollback h-1"), std::string::npos);
  ASSERT_TRUE(experiments.roll_back("eval", "h-1", "ada", "dear", effects));
  EXPECT_FALSE(experiments.reopen({h, VerdictKind::kPromoted}, "ada", "", effects));
  ASSERT_TRUE(experiments.reopen({h, VerdictKind::kPromoted}, "ada", "again", effects));
  EXPECT_EQ(effects.all<Reopened>().back().hypothesis, "h-1");
}

TEST_F(GateTest, NothingIsDecidedThatCouldNotBeRemembered) {
  ASSERT_TRUE(experiments.add(family("eval")));
  add("1", experiments.family("eval").spec, Stage::kGate);
  effects.fails = true;
  EXPECT_FALSE(experiments.decide("x-1", {true, "ada", "fine"}, effects));
  EXPECT_NE(state_of("x-1"), nullptr);
  EXPECT_EQ(experiments.state().campaign.promoted, 0);
  EXPECT_EQ(experiments.family("eval").baseline, model::Change{});
}

// A spec that was replaced: what was registered is what is judged, and it ends.
TEST_F(GateTest, AChangedSpecEndsItsExperimentsAndNamesWhatChanged) {
  FamilyRecord record = family("eval");
  record.spec.metric = "throughput";
  record.spec.lower_is_better = false;
  const model::Spec registered = record.spec;
  record.spec.lower_is_better = true;
  ASSERT_TRUE(experiments.add(std::move(record)));
  add("1", registered, Stage::kCompare);
  add("2", registered, Stage::kGate);
  model::Pair pair;
  pair.family = "eval";
  pair.experiment = "x-1";
  pair.index = 1;
  model::PairFact fact = fact_of(pair, 0);
  fact.a.metric = 100;
  fact.b.metric = 50;
  experiments.began(pair);
  experiments.ended(ended(pair, fact));
  EXPECT_LT(experiments.comparison("x-1").effect, 0) << "half the throughput is no win";
  const auto approved = experiments.decide("x-2", {true, "ada", "fine"}, effects);
  ASSERT_FALSE(approved);
  EXPECT_NE(approved.error().text.find("metric direction changed"), std::string::npos);
  rest();
  ASSERT_EQ(effects.all<Judged>().size(), 2U);
  for (const Judged& judged : effects.all<Judged>()) {
    EXPECT_EQ(judged.verdict.kind, VerdictKind::kAborted);
    EXPECT_NE(judged.verdict.reason.find("(metric direction)"), std::string::npos)
        << judged.verdict.reason;
  }
}

TEST_F(GateTest, AVariantThatCanNeverRunIsInvalidAtOnce) {
  ASSERT_TRUE(experiments.add(family("eval")));
  add("1", experiments.family("eval").spec, Stage::kCompare);
  model::Pair pair;
  pair.family = "eval";
  pair.experiment = "x-1";
  pair.index = 1;
  pair.commit = "0123456789abcdef";
  model::PairFact fact = fact_of(pair, 0);
  fact.voided = fact.b.failed = true;
  fact.b.never_runs = model::NeverRuns::kBuildFailed;
  fact.b.failure = "the build failed: make: exit 2";
  experiments.began(pair);
  experiments.ended(ended(pair, fact));
  rest();
  ASSERT_EQ(effects.all<Judged>().size(), 1U);
  EXPECT_EQ(effects.all<Judged>()[0].verdict.kind, VerdictKind::kInvalid);
  EXPECT_EQ(effects.all<Judged>()[0].verdict.reason,
            "at commit 0123456789ab the build failed: make: exit 2");
}

TEST_F(GateTest, TheCapCountsPairsOfSteps) {
  FamilyRecord record = family("eval");
  record.spec.pairing = "steps";
  ASSERT_TRUE(experiments.add(std::move(record)));
  add("1", experiments.family("eval").spec, Stage::kCompare);
  model::Pair pair;
  pair.family = "eval";
  pair.experiment = "x-1";
  pair.index = 1;
  pair.steps = true;
  model::PairFact fact = fact_of(pair, 0);
  for (int i = 0; i < 64; ++i) {
    fact.steps.push_back({i % 2 == 0, 1, std::exp(i % 2 == 0 ? -0.2 : 0.15)});
  }
  experiments.began(pair);
  experiments.ended(ended(pair, fact));
  ASSERT_EQ(state_of("x-1")->answer, model::Answer::kCannotTell);
  rest();
  EXPECT_TRUE(effects.all<Judged>().empty());
  EXPECT_TRUE(state_of("x-1")->parked) << "64 of 40: it goes on only where a slot is idle";
  pair.index = fact.index = 2;
  experiments.began(pair);
  experiments.ended(ended(pair, fact));
  rest();
  EXPECT_TRUE(effects.all<Judged>().empty());
  EXPECT_TRUE(state_of("x-1")->parked);
  EXPECT_TRUE(settled(experiments.state())) << "128 of at most 120: not even where a slot is idle";
}

// K = 200, alpha = 0.10: a claim needs E = 2000, after one promotion 1000. Two that wait with E
// between do not lift each other over the level: one might be declined or aborted.
TEST_F(GateTest, TheLevelFallsOnlyWithPromotionsThatHappened) {
  ASSERT_TRUE(experiments.add(family("eval")));
  ASSERT_TRUE(experiments.add(family("train")));
  const auto wait = [&](const std::string& id, const std::string& of) {
    add(id, experiments.family(of).spec, Stage::kRefute);
    for (int i = 0; i < 5; ++i) feed("x-" + id, of, 0.07 + 0.002 * (i % 3), Purpose::kCompare);
    for (int i = 0; i < 24; ++i) {
      const bool against = i % 5 == 1 || i == 2;
      feed("x-" + id, of, against ? -0.042 : 0.07 + 0.001 * (i % 4 - 1), Purpose::kReplicate);
    }
    const double e = std::exp(experiments.comparison("x-" + id).log_e_win);
    EXPECT_GT(e, 1000);
    EXPECT_LT(e, 2000);
  };
  wait("1", "eval");
  wait("2", "eval");
  wait("3", "train");
  rest();
  EXPECT_TRUE(effects.all<GateOpened>().empty());
  for (const char* id : {"x-1", "x-2", "x-3"}) EXPECT_EQ(state_of(id)->stage, Stage::kHold);

  ASSERT_TRUE(experiments.add(family("vision")));
  add("4", experiments.family("vision").spec, Stage::kGate);
  ASSERT_TRUE(experiments.decide("x-4", {false, "ada", "no"}, effects));
  rest();
  EXPECT_TRUE(effects.all<GateOpened>().empty()) << "a refusal lowers nothing";
  add("5", experiments.family("vision").spec, Stage::kGate);
  ASSERT_TRUE(experiments.decide("x-5", {true, "ada", "fine"}, effects));
  rest();
  EXPECT_EQ(effects.all<GateOpened>().size(), 3U) << "one promotion later 1000 is enough";
}

// A ledger of before may hold such a claim at its gate.
TEST_F(GateTest, WhatIsBelowTheLevelIsNotApproved) {
  ASSERT_TRUE(experiments.add(family("eval")));
  seen.log_e_win = std::log(1500);
  add("1", experiments.family("eval").spec, Stage::kGate);
  const auto approved = experiments.decide("x-1", {true, "ada", "fine"}, effects);
  ASSERT_FALSE(approved);
  EXPECT_EQ(approved.error().kind, Error::Kind::kConflict);
  EXPECT_NE(approved.error().text.find("E 1500; E 2000 is required"), std::string::npos)
      << approved.error().text;
  EXPECT_TRUE(experiments.decide("x-1", {false, "ada", "no"}, effects));
}

}  // namespace
}  // namespace amdahl::loop
