#include "loop/experiments.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "loop/testing.h"
#include "model/plan.h"
#include "model/spec_digest.h"
#include "stats/coin.h"
#include "stats/promise.h"

namespace amdahl::loop {
namespace {

CampaignRecord campaign_of_one() {
  CampaignRecord record;
  record.id = "c-1";
  record.seed = "0";
  record.registered = 1;
  return record;
}

class ExperimentsTest : public testing::Test {
 protected:
  ExperimentsTest() {
    FamilyRecord record;
    record.spec.family = "eval";
    record.spec.command = {"eval", "--batch", "1"};
    record.spec.outputs.push_back({"{out}/x", true});
    record.spec.inputs.push_back("data/*");
    record.state.name = "eval";
    record.state.volume_accelerator_h_per_day = 100;
    record.state.profiled = true;
    for (int i = 1; i <= 6; ++i) {
      model::Pair order;
      order.index = i;
      order.aim.purpose = model::Purpose::kSame;
      record.same.push_back(fact_of(order, 0.002 * (i - 3.5)));
    }
    EXPECT_TRUE(experiments.add(std::move(record)));
    for (const char* id : {"h-1", "h-2"}) {
      model::Hypothesis h;
      h.id = id;
      h.family = "eval";
      h.title = "larger batches";
      h.change.args["--batch"] = id == std::string("h-1") ? "8" : "16";
      h.predicted_gain = 0.2;
      h.ceiling_share = 0.5;
      experiments.add(h);
    }
  }

  // One intent that needs no slot, if there is one.
  bool act() {
    for (const Intent& intent : experiments.plan()) {
      const auto acted = experiments.act(intent, effects);
      EXPECT_TRUE(acted) << acted.error().text;
      if (acted && *acted) return true;
    }
    return false;
  }

  // Runs what is wished for until nothing is, with effects of about d.
  void work(double d) {
    for (int round = 0; round < 200; ++round) {
      while (act()) {
      }
      std::vector<model::Pair> orders;
      for (const Intent& wish : one_by_one(experiments.plan())) {
        const auto order = experiments.order_for(wish);
        if (!order) continue;
        experiments.began(*order);
        orders.push_back(*order);
      }
      if (orders.empty()) return;
      for (const model::Pair& order : orders) {
        const double noise = 0.004 * (order.index * 7 % 5 - 2);
        const model::PairFact fact = fact_of(order, order.experiment.empty() ? noise : d + noise);
        experiments.ended(ended(order, fact));
      }
    }
    FAIL() << "it never came to rest";
  }

  void expect_parked() {
    EXPECT_TRUE(effects.all<Judged>().empty());
    EXPECT_TRUE(settled(experiments.state()));
    ASSERT_EQ(experiments.state().experiments.size(), 2U) << "the second had its turn as well";
    for (const ExperimentState& x : experiments.state().experiments) {
      EXPECT_TRUE(x.parked);
      EXPECT_EQ(experiments.comparison(x.id).pairs, 2);
    }
  }

  RecordedEffects effects;
  Experiments experiments{Settings{}, CampaignRecord{}, Circumstances{}};
};

TEST_F(ExperimentsTest, ARealWinWalksToTheGate) {
  work(0.25);
  ASSERT_EQ(effects.all<CampaignOpened>().size(), 1U);
  EXPECT_EQ(effects.all<CampaignOpened>()[0].id, "c-00112233");
  ASSERT_EQ(effects.all<GateOpened>().size(), 2U) << "both are wins, one after the other";
  const GateOpened gate = effects.all<GateOpened>()[0];
  EXPECT_NEAR(gate.comparison.effect, 0.25, 0.01);
  EXPECT_GT(gate.comparison.lower, 0.2);
  EXPECT_TRUE(settled(experiments.state()));
  EXPECT_TRUE(experiments.decide(gate.experiment, {true, "ada", "fine"}, effects));
  EXPECT_EQ(experiments.state().campaign.promoted, 1);
  // The other was measured on the baseline before it: it must be tried again.
  EXPECT_TRUE(act());
  ASSERT_EQ(effects.all<Judged>().size(), 2U);
  EXPECT_EQ(effects.all<Judged>()[1].verdict.kind, model::VerdictKind::kAborted);
  EXPECT_TRUE(experiments.state().experiments.empty());
}

// Without named inputs nothing can be promoted: a clear win is on hold with the pairs it has.
TEST_F(ExperimentsTest, AClaimThatNoPairCanBringToTheGateGetsNoMore) {
  FamilyRecord record = experiments.family("eval");
  record.spec.inputs.clear();
  const model::Hypothesis idea = experiments.hypothesis("h-1");
  experiments = Experiments{Settings{}, CampaignRecord{}, Circumstances{}};
  ASSERT_TRUE(experiments.add(std::move(record)));
  experiments.add(idea);
  work(0.25);
  EXPECT_TRUE(settled(experiments.state()));
  ASSERT_EQ(experiments.state().experiments.size(), 1U);
  const ExperimentState& x = experiments.state().experiments[0];
  EXPECT_EQ(x.stage, model::Stage::kHold);
  EXPECT_EQ(x.answer, model::Answer::kBetter);
  EXPECT_EQ(x.replicate_pairs, 0);
  EXPECT_TRUE(experiments.evidence(x.id, false).pairs.size() ==
              static_cast<std::size_t>(x.compare_pairs))
      << "and no targeted pair either";
  const auto votes = effects.all<Voted>();
  EXPECT_TRUE(std::ranges::any_of(votes, [](const Voted& voted) {
    return voted.finding.check == "input" && voted.finding.vote == model::Vote::kAbstain;
  }));
}

// A few pairs that show nothing are no reason to close a key for ever.
TEST_F(ExperimentsTest, WhatShowsNothingIsParkedWithItsEvidence) {
  work(0);
  expect_parked();
}

// Clear harm takes a few pairs to prove, and then nobody tries it again.
TEST_F(ExperimentsTest, WhatClearlyHarmsGoesOnToHarmful) {
  work(-0.2);
  const auto all = effects.all<Judged>();
  ASSERT_EQ(all.size(), 2U);
  for (const Judged& judged : all) {
    EXPECT_EQ(judged.verdict.kind, model::VerdictKind::kHarmful);
    ASSERT_TRUE(judged.verdict.comparison);
    EXPECT_GE(judged.verdict.comparison->log_e_worse, std::log(20.0));
    EXPECT_LE(judged.verdict.comparison->pairs, 8);
    EXPECT_LT(judged.verdict.comparison->upper, -0.1) << "a number with a bound";
  }
}

// Whoever asks for a parked idea pays for a cap of pairs more, on top of those there are.
TEST_F(ExperimentsTest, AParkedIdeaGoesOnWhenSomebodyAsksForIt) {
  work(0);
  const ExperimentState parked = experiments.state().experiments.at(0);
  const model::Experiment e = experiments.experiment(parked.id);
  Experiments again{Settings{}, campaign_of_one(), Circumstances{}};
  ASSERT_TRUE(again.add(experiments.family("eval")));
  again.add(experiments.hypothesis(e.hypothesis));
  ASSERT_TRUE(again.add(e, model::Stage::kCompare, {}, {}, parked.compare_ratios));
  for (int i = 1; i <= parked.compare_ratios; ++i) {
    const auto order = again.order_for(RunPair{e.id});
    again.began(*order);
    again.ended(ended(*order, fact_of(*order, 0)));
  }
  EXPECT_FALSE(again.state().experiments[0].parked);
  EXPECT_EQ(again.comparison(e.id).pairs, parked.compare_ratios) << "none is lost";
  for (int i = 1; i <= 60 && !again.state().experiments.empty(); ++i) {
    for (const Intent& intent : again.plan()) ASSERT_TRUE(again.act(intent, effects));
    const auto wishes = one_by_one(again.plan());
    if (wishes.empty()) break;
    const auto order = again.order_for(wishes[0]);
    ASSERT_TRUE(order);
    again.began(*order);
    again.ended(ended(*order, fact_of(*order, 0)));
  }
  ASSERT_EQ(effects.all<Judged>().size(), 1U);
  EXPECT_EQ(effects.all<Judged>()[0].verdict.kind, model::VerdictKind::kNoEffect);
  ASSERT_TRUE(effects.all<Judged>()[0].verdict.comparison);
  EXPECT_GE(effects.all<Judged>()[0].verdict.comparison->log_e_futile, std::log(20.0) - 1e-9);
}

// The check aa compares what A costs on the same inputs, with the change beside it and without.
TEST_F(ExperimentsTest, PairsOfTheBaselineRunOnEachClassOfInputs) {
  FamilyRecord record = experiments.family("eval");
  record.same.clear();
  record.spec.strata = {{"short", 0.67, {{"LENGTH", "1"}}, {}},
                        {"long", 0.33, {{"LENGTH", "9"}}, {}}};
  Experiments all{Settings{}, campaign_of_one(), Circumstances{}};
  ASSERT_TRUE(all.add(record));
  std::string dealt;
  for (int i = 0; i < 6; ++i) {
    const auto order = all.order_for(RunSame{"eval"});
    ASSERT_TRUE(order);
    dealt += order->stratum + " ";
    EXPECT_EQ(order->a, order->b);
    EXPECT_EQ(order->a.env.at("LENGTH"), order->stratum == "long" ? "9" : "1");
    all.began(*order);
  }
  EXPECT_EQ(dealt, "short long short short long short ");
}

// A change that fails must not get rid of its failures when another's promotion ends its test.
TEST_F(ExperimentsTest, FailuresOfAnEarlierTestOfTheChangeCount) {
  EarlierTest earlier;
  earlier.experiment.family = "eval";
  for (int i = 1; i <= 8; ++i) {
    model::Pair order;
    order.index = i;
    model::PairFact fact = fact_of(order, 0.25);
    fact.voided = fact.b.failed = i <= 4;
    earlier.pairs.push_back(fact);
  }
  model::Hypothesis h = experiments.hypothesis("h-1");
  const auto before_after = [&](const EarlierTest& test) {
    Experiments all{Settings{}, campaign_of_one(), Circumstances{}};
    EXPECT_TRUE(all.add(experiments.family("eval")));
    all.add(h, std::span(&test, 1));
    EXPECT_TRUE(all.act(Register{h.id}, effects));
    return all.evidence(all.state().experiments.at(0).id, false).before.size();
  };
  EXPECT_EQ(before_after(earlier), 8U);
  EarlierTest other_metric = earlier;
  other_metric.experiment.metric = "seconds";
  EXPECT_EQ(before_after(other_metric), 8U) << "it fails however its cost is measured";
  EarlierTest other_command = earlier;
  model::Spec spec = experiments.family("eval").spec;
  spec.command = {"eval", "--broken"};
  other_command.experiment.spec = field_digests(spec);
  EXPECT_EQ(before_after(other_command), 0U) << "what was mended deserves another try";
  EarlierTest mended = earlier;
  mended.pairs[0].b.never_runs = model::NeverRuns::kBuildFailed;
  mended.pairs[1].b.failed = false;
  EXPECT_EQ(before_after(mended), 6U) << "it did not run, or nobody lost the pair";
}

// Pairs that noise made worthless may be worth their hours once it has fallen.
TEST_F(ExperimentsTest, AParkedIdeaGoesOnWhenNoiseFalls) {
  FamilyRecord record = experiments.family("eval");
  const auto noisy = [&](double sigma) {
    for (int i = 0; i < 6; ++i) {
      model::Pair pair;
      pair.index = i + 1;
      record.same[static_cast<std::size_t>(i)] =
          fact_of(pair, (i % 2 == 0 ? 1 : -1) * sigma / 1.4826);
    }
    return record;
  };
  const auto with = [&](double sigma) {
    Experiments all{Settings{}, campaign_of_one(), Circumstances{}};
    EXPECT_TRUE(all.add(noisy(sigma)));
    model::Hypothesis h = experiments.hypothesis("h-1");
    all.add(h);
    model::Experiment e;
    e.id = "x-1";
    e.hypothesis = h.id;
    e.family = "eval";
    e.claim = 0.05;
    e.sigma = 0.25;
    e.baseline = digest(*make_plan(record.spec, record.baseline));
    EXPECT_TRUE(all.add(e, model::Stage::kCompare, {}));
    const auto order = all.order_for(RunPair{e.id});
    all.began(*order);
    all.ended(ended(*order, fact_of(*order, 0.03)));
    return all.state().experiments.at(0);
  };
  EXPECT_TRUE(with(0.25).parked);
  EXPECT_FALSE(with(0.01).parked);
}

TEST_F(ExperimentsTest, RegistersBeforeTheFirstPairAndFollowsTheCoin) {
  ASSERT_TRUE(act());  // The campaign.
  ASSERT_TRUE(act());  // The registration.
  ASSERT_EQ(effects.all<Registered>().size(), 1U);
  const model::Experiment e = effects.all<Registered>()[0].experiment;
  EXPECT_EQ(e.weight, 1.0 / 200);
  EXPECT_NEAR(e.claim, -std::log(0.8), 1e-12);
  EXPECT_EQ(e.delta, stats::kSmallestGain);
  EXPECT_EQ(e.beta, 0.05);
  for (int i = 1; i <= 20; ++i) {
    const auto order = experiments.order_for(RunPair{e.id});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->index, i);
    EXPECT_EQ(order->variant_second, stats::coin(e.seed, e.hypothesis, i));
    experiments.began(*order);
  }
}

TEST_F(ExperimentsTest, DecidesOnTheResolvedPrefixAlone) {
  act();
  act();
  const std::string id = experiments.state().experiments.at(0).id;
  std::vector<model::Pair> orders;
  for (int i = 0; i < 8; ++i) {
    orders.push_back(*experiments.order_for(RunPair{id}));
    experiments.began(orders.back());
  }
  for (std::size_t i = 1; i < orders.size(); ++i) {
    const model::PairFact fact = fact_of(orders[i], 0.3);
    experiments.ended(ended(orders[i], fact));
  }
  EXPECT_EQ(experiments.state().experiments[0].log_e, 0) << "the first pair is still open";
  EXPECT_EQ(experiments.state().experiments[0].compare_pairs, 7);
  experiments.ended(ended(orders[0], std::nullopt));
  EXPECT_GT(experiments.state().experiments[0].log_e, std::log(20.0));
  EXPECT_EQ(experiments.state().experiments[0].answer, model::Answer::kBetter);
  EXPECT_EQ(experiments.state().experiments[0].other_voids, 1);
}

TEST_F(ExperimentsTest, AVerdictLeavesPairsInFlightBehind) {
  act();
  act();
  const std::string id = experiments.state().experiments.at(0).id;
  EXPECT_EQ(experiments.title_of(id), "larger batches");
  const auto late = experiments.order_for(RunPair{id});
  ASSERT_TRUE(late);
  experiments.began(*late);
  ASSERT_TRUE(experiments.act(Close{id, model::VerdictKind::kNoEffect, ""}, effects));
  EXPECT_EQ(experiments.title_of(id), "") << "the progress line asks while its pair still runs";
  const model::PairFact fact = fact_of(*late, 0.3);
  experiments.ended(ended(*late, fact));
  EXPECT_TRUE(experiments.state().experiments.empty());
}

TEST_F(ExperimentsTest, BelievesNothingThatCouldNotBeRemembered) {
  act();
  effects.fails = true;
  const auto acted = experiments.act(Register{"h-1"}, effects);
  ASSERT_FALSE(acted);
  EXPECT_EQ(acted.error().text, "the disk is full");
  EXPECT_TRUE(experiments.state().experiments.empty());
  EXPECT_EQ(experiments.state().queued.size(), 2U);
  EXPECT_EQ(experiments.state().registered, 0);
}

class ExperimentsBlocks : public testing::Test {
 protected:
  // Four ideas under test, and two that wait.
  void SetUp() override {
    FamilyRecord record;
    record.spec.family = record.state.name = "eval";
    record.spec.command = {"eval"};
    record.state.profiled = true;
    ASSERT_TRUE(experiments.add(std::move(record)));
    for (int i = 0; i < 6; ++i) {
      model::Hypothesis h;
      h.id = "h-" + std::to_string(i);
      h.family = "eval";
      h.change.env["N"] = std::to_string(i);
      h.predicted_gain = 0.2;
      experiments.add(h);
      if (i >= 4) continue;
      ASSERT_TRUE(experiments.act(Register{h.id}, effects));
    }
  }

  static Settings four_at_once() {
    Settings settings;
    settings.per_family = 4;
    return settings;
  }

  RecordedEffects effects;
  Experiments experiments{four_at_once(), CampaignRecord{"c-1", "5eed", {200, 0.1, 0}, 0},
                          Circumstances{}};
};

TEST_F(ExperimentsBlocks, ShareOneBaselineInARandomOrderOfAllArms) {
  std::map<bool, int> seconds;
  for (int i = 0; i < 200; ++i) {
    const auto order = experiments.order_for(RunPair{"x-0"});
    ASSERT_TRUE(order);
    ASSERT_EQ(order->shared.size(), 3U);
    ASSERT_EQ(order->order.size(), 5U);
    const auto place = [&](int arm) {
      return std::ranges::find(order->order, arm) - order->order.begin();
    };
    EXPECT_EQ(order->variant_second, place(1) > place(0));
    for (int arm = 2; arm < 5; ++arm) {
      const model::SharedVariant& variant = order->shared[static_cast<std::size_t>(arm) - 2];
      EXPECT_EQ(variant.variant_second, place(arm) > place(0));
      ++seconds[variant.variant_second];
    }
    model::Pair alone = *order;
    alone.shared.clear();
    experiments.began(alone);
    const model::PairFact fact = fact_of(alone, 0);
    experiments.ended(ended(alone, fact));
  }
  EXPECT_NEAR(seconds[true], 300, 60) << "of 600, by a fair coin";
}

TEST_F(ExperimentsBlocks, LeaveOutAVariantWhoseWorkersDie) {
  for (int deaths = 1; deaths <= 2; ++deaths) {
    EXPECT_EQ(experiments.order_for(RunPair{"x-0"})->shared.size(), 3U) << "once may be chance";
    model::Pair alone = *experiments.order_for(RunPair{"x-2"});
    alone.shared.clear();
    experiments.began(alone);
    model::PairFact fact = fact_of(alone, 0);
    fact.voided = fact.b.failed = true;
    fact.b.wall_s = 0;
    experiments.ended(ended(alone, fact));
  }
  const auto order = experiments.order_for(RunPair{"x-0"});
  ASSERT_EQ(order->shared.size(), 2U);
  for (const model::SharedVariant& variant : order->shared) EXPECT_NE(variant.experiment, "x-2");
  EXPECT_TRUE(experiments.order_for(RunPair{"x-2"})->shared.empty());
}

TEST(ExperimentsStrata, DealsPairsOverTheClassesByTheirShare) {
  Experiments experiments(Settings{}, CampaignRecord{"c-1", "5eed", {200, 0.1, 0}, 0},
                          Circumstances{});
  RecordedEffects effects;
  FamilyRecord record;
  record.spec.family = record.state.name = "eval";
  record.spec.command = {"eval"};
  record.spec.strata = {{"small", 0.25, {{"SPLIT", "small"}}, {}}, {"large", 0.75, {}, {}}};
  ASSERT_TRUE(experiments.add(std::move(record)));
  model::Hypothesis h;
  h.id = "h-1";
  h.family = "eval";
  h.change.env["N"] = "2";
  experiments.add(h);
  ASSERT_TRUE(experiments.act(Register{h.id}, effects));
  std::map<std::string, int> dealt;
  for (int i = 0; i < 40; ++i) {
    const auto order = experiments.order_for(RunPair{"x-1"});
    ++dealt[order->stratum];
    EXPECT_EQ(order->a.env.count("SPLIT"), order->stratum == "small" ? 1U : 0U);
    EXPECT_EQ(order->b.env.count("SPLIT"), order->a.env.count("SPLIT"));
    experiments.began(*order);
  }
  EXPECT_EQ(dealt, (std::map<std::string, int>{{"small", 10}, {"large", 30}}));
}

}  // namespace
}  // namespace amdahl::loop
