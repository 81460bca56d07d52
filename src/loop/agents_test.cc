// What the loop does about models: their patches begin with a canary, their attacks buy pairs.
#include <algorithm>

#include <gtest/gtest.h>

#include "loop/experiments.h"
#include "loop/order.h"
#include "loop/testing.h"

namespace amdahl::loop {
namespace {

class AgentsTest : public testing::Test {
 protected:
  // One live hypothesis of a model, or of a person; with classes of inputs if wanted.
  void begin(const std::string& origin, bool with_strata) {
    FamilyRecord record;
    record.spec.family = "eval";
    record.spec.command = {"eval"};
    record.spec.repo = "/repo";
    record.spec.outputs.push_back({"{out}/x", true});
    record.spec.inputs.push_back("data/*");
    if (with_strata) {
      record.spec.strata = {{"large", 0.8, {{"SIZE", "9"}}, {}, 900},
                            {"small", 0.1, {{"SIZE", "1"}}, {}, 10},
                            {"medium", 0.1, {{"SIZE", "5"}}, {}, 50}};
    }
    record.state.name = "eval";
    record.state.volume_accelerator_h_per_day = 100;
    record.state.profiled = true;
    for (int i = 1; i <= 6; ++i) {
      model::Pair order;
      order.index = i;
      order.aim.purpose = model::Purpose::kSame;
      record.same.push_back(fact_of(order, 0.002 * (i - 3.5)));
    }
    ASSERT_TRUE(experiments.add(std::move(record)));
    model::Hypothesis h;
    h.id = "h-1";
    h.family = "eval";
    h.title = "faster";
    h.change.patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    h.origin = {origin, "claude:sonnet"};
    h.predicted_gain = 0.2;
    h.ceiling_share = 0.5;
    experiments.add(h);
  }

  void act() {
    for (bool acted = true; acted;) {
      acted = false;
      for (const Intent& intent : experiments.plan()) {
        const auto done = experiments.act(intent, effects);
        ASSERT_TRUE(done) << done.error().text;
        if (*done) {
          acted = true;
          break;
        }
      }
    }
  }

  // What would be launched now.
  std::vector<model::Pair> orders() {
    act();
    std::vector<model::Pair> all;
    for (const Intent& wish : one_by_one(experiments.plan())) {
      const auto order = experiments.order_for(wish);
      if (!order || order->experiment.empty()) continue;
      experiments.began(*order);
      all.push_back(*order);
    }
    return all;
  }

  // Runs what is wished for until nothing is; how many pairs had each purpose.
  std::map<std::string, int> work(double d) {
    std::map<std::string, int> ran;
    for (int round = 0; round < 100; ++round) {
      const std::vector<model::Pair> wished = orders();
      if (wished.empty()) break;
      for (const model::Pair& order : wished) {
        ++ran[text_of(order.aim)];
        experiments.ended(ended(order, fact_of(order, d + 0.004 * (order.index * 7 % 5 - 2))));
      }
    }
    return ran;
  }

  RecordedEffects effects;
  Experiments experiments{Settings{}, CampaignRecord{}, Circumstances{}};
};

TEST_F(AgentsTest, TheFirstPairIsACanaryOnTheSmallestInput) {
  begin("agent", true);
  const std::vector<model::Pair> first = orders();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].stratum, "small");
  EXPECT_EQ(first[0].b.env.at("SIZE"), "1");
  EXPECT_TRUE(orders().empty()) << "nothing more before it is back";
  experiments.ended(ended(first[0], fact_of(first[0], 0.2)));
  const std::vector<model::Pair> then = orders();
  ASSERT_GE(then.size(), 1U);
  EXPECT_EQ(then[0].stratum, "large") << "it was dealt one too many of the small ones";
}

TEST_F(AgentsTest, APersonsPatchNeedsNoCanary) {
  begin("person", true);
  const std::vector<model::Pair> first = orders();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].stratum, "large");
}

TEST_F(AgentsTest, ACanaryThatFailsEndsIt) {
  begin("agent", false);
  const std::vector<model::Pair> first = orders();
  ASSERT_EQ(first.size(), 1U);
  model::PairFact fact = fact_of(first[0], 0.2);
  fact.voided = fact.b.failed = true;
  fact.b.failure = "exit 1";
  experiments.ended(ended(first[0], fact));
  EXPECT_TRUE(orders().empty());
  ASSERT_EQ(effects.all<Judged>().size(), 1U);
  EXPECT_EQ(effects.all<Judged>()[0].verdict.kind, model::VerdictKind::kInvalid);
}

TEST_F(AgentsTest, ACanaryWithOtherOutputsIsRefutedAtOnce) {
  begin("agent", false);
  const std::vector<model::Pair> first = orders();
  ASSERT_EQ(first.size(), 1U);
  model::PairFact fact = fact_of(first[0], 0.9);
  fact.b.output_digest = "ff";
  experiments.ended(ended(first[0], fact));
  EXPECT_TRUE(orders().empty());
  ASSERT_EQ(effects.all<Judged>().size(), 1U);
  EXPECT_EQ(effects.all<Judged>()[0].verdict.kind, model::VerdictKind::kRefuted);
  ASSERT_EQ(effects.all<Voted>().size(), 1U);
  EXPECT_EQ(effects.all<Voted>()[0].finding.check, "quality");
}

// A model's word buys pairs, and nothing else: the claim survives by what they measure.
TEST_F(AgentsTest, AnAttackBuysThePairsThatSettleIt) {
  for (const bool attacked : {false, true}) {
    SCOPED_TRACE(attacked);
    effects = {};
    experiments = Experiments{Settings{}, CampaignRecord{}, Circumstances{}};
    begin("agent", false);
    act();
    if (attacked) experiments.attacked("x-1", {"outlier", "nonsense"}, 0);
    const std::map<std::string, int> ran = work(0.2);
    EXPECT_EQ(ran.contains("top-up:outlier"), attacked);
    ASSERT_EQ(effects.all<GateOpened>().size(), 1U);
    const std::vector<model::Finding> votes = effects.all<GateOpened>()[0].votes;
    EXPECT_TRUE(std::ranges::none_of(
        votes, [](const model::Finding& vote) { return vote.vote == model::Vote::kRefute; }));
    EXPECT_EQ(ran.contains("top-up:outlier") ? ran.at("top-up:outlier") : 0, attacked ? 4 : 0);
  }
}

TEST_F(AgentsTest, ThePanelWaitsForAttacksInFlight) {
  begin("agent", false);
  act();
  experiments.attacked("x-1", {}, 1);
  work(0.2);
  EXPECT_TRUE(effects.all<GateOpened>().empty());
  EXPECT_FALSE(settled(experiments.state()));
  experiments.attacked("x-1", {}, 0);
  work(0.2);
  EXPECT_EQ(effects.all<GateOpened>().size(), 1U);
}

TEST(Order, TheSmallestClassOfInputs) {
  model::Spec spec;
  EXPECT_EQ(smallest_stratum(spec), "");
  spec.strata = {{"a", 1, {}, {}, 0}, {"b", 1, {}, {}, 0}};
  EXPECT_EQ(smallest_stratum(spec), "a") << "the first, if none says its size";
  spec.strata = {{"a", 1, {}, {}, 3}, {"b", 1, {}, {}, 2}};
  EXPECT_EQ(smallest_stratum(spec), "b");
}

}  // namespace
}  // namespace amdahl::loop
