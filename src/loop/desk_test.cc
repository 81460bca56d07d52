#include "loop/desk.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "stats/coin.h"

namespace amdahl::loop {
namespace {

// Hands that remember in memory and can be told to fail.
class Notebook : public Hands {
 public:
  Result<> remember(std::span<const Happening> together) override {
    if (fails) return external("the disk is full");
    happened.insert(happened.end(), together.begin(), together.end());
    return Ok{};
  }
  void say(const std::string& sentence) override { said.push_back(sentence); }
  Nanos now() override { return Nanos{7}; }
  std::string fresh_seed() override { return "00112233445566778899aabbccddeeff"; }

  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Happening& h : happened) {
      if (const auto* it = std::get_if<Kind>(&h)) found.push_back(*it);
    }
    return found;
  }

  bool fails = false;
  std::vector<Happening> happened;
  std::vector<std::string> said;
};

model::PairFact pair_of(const PairOrder& order, double d) {
  model::PairFact pair;
  pair.reservation = "r-" + order.experiment + "-" + std::to_string(order.index);
  pair.index = order.index;
  pair.purpose = purpose_of(order.purpose);
  pair.target = target_in(order.purpose);
  pair.variant_second = pair.ran_variant_second = order.variant_second;
  pair.stratum = order.stratum;
  pair.a.cost = pair.a.wall_s = 100;
  pair.a.cpu_s = 100;
  pair.a.work = 10;
  pair.a.output_digest = "0d";
  pair.a.input_fingerprint = "1f";
  pair.a.input_bytes = 1000;
  pair.a.host = "n1";
  pair.a.started_s = 1000.0 + order.index;
  pair.b = pair.a;
  pair.b.cost = pair.b.wall_s = pair.b.cpu_s = pair.a.cost / std::exp(d);
  return pair;
}

class DeskTest : public testing::Test {
 protected:
  DeskTest() {
    FamilyRecord record;
    record.spec.family = "eval";
    record.spec.command = {"eval", "--batch", "1"};
    record.spec.outputs.push_back({"{out}/x", true});
    record.spec.inputs.push_back("data/*");
    record.state.name = "eval";
    record.state.volume_accelerator_h_per_day = 100;
    record.state.profiled = true;
    for (int i = 1; i <= 6; ++i) {
      PairOrder order;
      order.index = i;
      order.purpose = "same";
      record.same.push_back(pair_of(order, 0.002 * (i - 3.5)));
    }
    EXPECT_TRUE(desk.add(std::move(record)));
    for (const char* id : {"h-1", "h-2"}) {
      model::Hypothesis h;
      h.id = id;
      h.family = "eval";
      h.title = "larger batches";
      h.change.args["--batch"] = id == std::string("h-1") ? "8" : "16";
      h.predicted_gain = 0.2;
      h.ceiling_share = 0.5;
      desk.add(h);
    }
  }

  // One intent that needs no slot, if there is one.
  bool act() {
    for (const Intent& intent : desk.plan()) {
      const auto acted = desk.act(intent, hands);
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
      std::vector<PairOrder> orders;
      for (const Intent& wish : one_by_one(desk.plan())) {
        const auto order = desk.order_for(wish);
        if (!order) continue;
        desk.began(*order);
        orders.push_back(*order);
      }
      if (orders.empty()) return;
      for (const PairOrder& order : orders) {
        const double noise = 0.004 * (order.index * 7 % 5 - 2);
        const model::PairFact fact = pair_of(order, order.experiment.empty() ? noise : d + noise);
        desk.ended(order.family, order.experiment, order.purpose, order.index, &fact);
      }
    }
    FAIL() << "it never came to rest";
  }

  Notebook hands;
  Desk desk{Settings{}, CampaignRecord{}, Circumstances{}};
};

TEST_F(DeskTest, ARealWinWalksToTheGate) {
  work(0.25);
  ASSERT_EQ(hands.all<CampaignOpened>().size(), 1U);
  EXPECT_EQ(hands.all<CampaignOpened>()[0].id, "c-00112233");
  ASSERT_EQ(hands.all<GateOpened>().size(), 2U) << "both are wins, one after the other";
  const GateOpened gate = hands.all<GateOpened>()[0];
  EXPECT_NEAR(gate.comparison.effect, 0.25, 0.01);
  EXPECT_GT(gate.comparison.lower, 0.2);
  EXPECT_TRUE(settled(desk.state()));
  EXPECT_TRUE(desk.decided(gate.experiment, true));
  EXPECT_EQ(desk.state().campaign.promoted, 1);
  // The other was measured on the baseline before it: it must be tried again.
  EXPECT_TRUE(act());
  ASSERT_EQ(hands.all<Judged>().size(), 1U);
  EXPECT_EQ(hands.all<Judged>()[0].verdict.kind, model::VerdictKind::kAborted);
  EXPECT_TRUE(desk.state().experiments.empty());
}

TEST_F(DeskTest, NoEffectIsClosedWithItsNumbers) {
  work(0);
  ASSERT_EQ(hands.all<Judged>().size(), 2U);
  EXPECT_EQ(hands.all<Judged>()[0].verdict.kind, model::VerdictKind::kNoEffect);
  EXPECT_NE(hands.all<Judged>()[0].verdict.reason.find("pairs"), std::string::npos);
  EXPECT_TRUE(hands.all<GateOpened>().empty());
  EXPECT_TRUE(desk.state().queued.empty());
}

TEST_F(DeskTest, RegistersBeforeTheFirstPairAndFollowsTheCoin) {
  ASSERT_TRUE(act());  // The campaign.
  ASSERT_TRUE(act());  // The registration.
  ASSERT_EQ(hands.all<Registered>().size(), 1U);
  const model::Experiment e = hands.all<Registered>()[0].experiment;
  EXPECT_EQ(e.weight, 1.0 / 200);
  EXPECT_NEAR(e.claim, -std::log(0.8), 1e-12);
  EXPECT_NEAR(e.delta, e.claim / 2, 1e-12);
  for (int i = 1; i <= 20; ++i) {
    const auto order = desk.order_for(RunPair{e.id});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->index, i);
    EXPECT_EQ(order->variant_second, stats::coin(e.seed, e.hypothesis, i));
    desk.began(*order);
  }
}

TEST_F(DeskTest, DecidesOnTheResolvedPrefixAlone) {
  act();
  act();
  const std::string id = desk.state().experiments.at(0).id;
  std::vector<PairOrder> orders;
  for (int i = 0; i < 8; ++i) {
    orders.push_back(*desk.order_for(RunPair{id}));
    desk.began(orders.back());
  }
  for (std::size_t i = 1; i < orders.size(); ++i) {
    const model::PairFact fact = pair_of(orders[i], 0.3);
    desk.ended("eval", id, orders[i].purpose, orders[i].index, &fact);
  }
  EXPECT_EQ(desk.state().experiments[0].log_e, 0) << "the first pair is still open";
  EXPECT_EQ(desk.state().experiments[0].compare_pairs, 7);
  desk.ended("eval", id, orders[0].purpose, orders[0].index, nullptr);
  EXPECT_GT(desk.state().experiments[0].log_e, std::log(20.0));
  EXPECT_EQ(desk.state().experiments[0].answer, model::Answer::kBetter);
  EXPECT_EQ(desk.state().experiments[0].other_voids, 1);
}

TEST_F(DeskTest, AVerdictLeavesPairsInFlightBehind) {
  act();
  act();
  const std::string id = desk.state().experiments.at(0).id;
  EXPECT_EQ(desk.title_of(id), "larger batches");
  const auto late = desk.order_for(RunPair{id});
  ASSERT_TRUE(late);
  desk.began(*late);
  ASSERT_TRUE(desk.act(Close{id, model::VerdictKind::kNoEffect, ""}, hands));
  EXPECT_EQ(desk.title_of(id), "") << "the progress line asks while its pair still runs";
  const model::PairFact fact = pair_of(*late, 0.3);
  desk.ended("eval", id, late->purpose, late->index, &fact);
  EXPECT_TRUE(desk.state().experiments.empty());
}

TEST_F(DeskTest, BelievesNothingThatCouldNotBeRemembered) {
  act();
  hands.fails = true;
  const auto acted = desk.act(Register{"h-1"}, hands);
  ASSERT_FALSE(acted);
  EXPECT_EQ(acted.error().text, "the disk is full");
  EXPECT_TRUE(desk.state().experiments.empty());
  EXPECT_EQ(desk.state().queued.size(), 2U);
  EXPECT_EQ(desk.state().registered, 0);
}

TEST(DeskBlocks, ShareOneBaselineInARandomOrderOfAllArms) {
  Settings settings;
  settings.per_family = 4;
  Desk desk(settings, CampaignRecord{"c-1", "5eed", {200, 0.1, 0}, 0}, Circumstances{});
  Notebook hands;
  FamilyRecord record;
  record.spec.family = record.state.name = "eval";
  record.spec.command = {"eval"};
  record.state.profiled = true;
  ASSERT_TRUE(desk.add(std::move(record)));
  for (int i = 0; i < 6; ++i) {
    model::Hypothesis h;
    h.id = "h-" + std::to_string(i);
    h.family = "eval";
    h.change.env["N"] = std::to_string(i);
    h.predicted_gain = 0.2;
    desk.add(h);
    if (i >= 4) continue;
    ASSERT_TRUE(desk.act(Register{h.id}, hands));
  }
  std::map<bool, int> seconds;
  for (int i = 0; i < 200; ++i) {
    const auto order = desk.order_for(RunPair{"x-0"});
    ASSERT_TRUE(order);
    ASSERT_EQ(order->mates.size(), 3U);
    ASSERT_EQ(order->order.size(), 5U);
    const auto place = [&](int arm) {
      return std::ranges::find(order->order, arm) - order->order.begin();
    };
    EXPECT_EQ(order->variant_second, place(1) > place(0));
    for (int arm = 2; arm < 5; ++arm) {
      const Mate& mate = order->mates[static_cast<std::size_t>(arm) - 2];
      EXPECT_EQ(mate.variant_second, place(arm) > place(0));
      ++seconds[mate.variant_second];
    }
    PairOrder alone = *order;
    alone.mates.clear();
    desk.began(alone);
    const model::PairFact fact = pair_of(alone, 0);
    desk.ended("eval", "x-0", "compare", alone.index, &fact);
  }
  EXPECT_NEAR(seconds[true], 300, 60) << "of 600, by a fair coin";
}

TEST(DeskStrata, DealsPairsOverTheClassesByTheirShare) {
  Desk desk(Settings{}, CampaignRecord{"c-1", "5eed", {200, 0.1, 0}, 0}, Circumstances{});
  Notebook hands;
  FamilyRecord record;
  record.spec.family = record.state.name = "eval";
  record.spec.command = {"eval"};
  record.spec.strata = {{"small", 0.25, {{"SPLIT", "small"}}, {}}, {"large", 0.75, {}, {}}};
  ASSERT_TRUE(desk.add(std::move(record)));
  model::Hypothesis h;
  h.id = "h-1";
  h.family = "eval";
  h.change.env["N"] = "2";
  desk.add(h);
  ASSERT_TRUE(desk.act(Register{h.id}, hands));
  std::map<std::string, int> dealt;
  for (int i = 0; i < 40; ++i) {
    const auto order = desk.order_for(RunPair{"x-1"});
    ++dealt[order->stratum];
    EXPECT_EQ(order->a.env.count("SPLIT"), order->stratum == "small" ? 1U : 0U);
    EXPECT_EQ(order->b.env.count("SPLIT"), order->a.env.count("SPLIT"));
    desk.began(*order);
  }
  EXPECT_EQ(dealt, (std::map<std::string, int>{{"small", 10}, {"large", 30}}));
}

}  // namespace
}  // namespace amdahl::loop
