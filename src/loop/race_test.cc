#include "loop/race.h"

#include <gtest/gtest.h>

#include "loop/experiments.h"
#include "loop/testing.h"

namespace amdahl::loop {
namespace {

struct Case {
  std::string name;
  std::vector<std::vector<double>> ratios;
  std::vector<std::size_t> run;
  std::vector<std::size_t> lost;
};

TEST(Race, RunsBlocksUntilOneIsLeft) {
  const Case cases[] = {
      {"nothing known: as many as a block holds", {{}, {}, {}, {}, {}}, {0, 1, 2, 3}, {}},
      {"those that ran least come first", {{0.1}, {0.1}, {0.1}, {0.1}, {}}, {4, 0, 1, 2}, {}},
      {"far behind after one block", {{0.5}, {0.0}, {0.45}}, {}, {1}},
      {"close: another block", {{0.10}, {0.05}, {0.08}}, {0, 1, 2}, {}},
      {"noise falls with blocks", {{0.2, 0.2}, {0.1, 0.15}, {0.2, 0.2}}, {}, {1}},
      {"after three blocks one is left",
       {{0.1, 0.1, 0.1}, {0.11, 0.11, 0.11}, {0.1, 0.1, 0.12}},
       {},
       {0, 2}},
      {"the best does harm", {{-0.3, -0.3, -0.3}, {-0.2, -0.2, -0.2}}, {}, {0, 1}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Lane> lanes;
    for (const std::vector<double>& ratios : c.ratios) lanes.push_back({"--n", ratios});
    std::vector<const Lane*> all;
    for (const Lane& lane : lanes) all.push_back(&lane);
    const Heat heat = next_heat(all, 0.05, 4);
    std::vector<std::size_t> lost;
    for (const Lost& one : heat.lost) lost.push_back(one.lane);
    EXPECT_EQ(heat.run, c.run);
    EXPECT_EQ(lost, c.lost);
  }
}

TEST(Race, WhatCannotRunIsOutAndBlocksInFlightAreWaitedFor) {
  Lane fails{"--n", {0.1}};
  fails.never_runs = "the injection did not engage";
  Lane spoiled{"--n"};
  spoiled.voids = 2;
  const Lane good{"--n", {0.1}};
  const Heat heat = next_heat(std::vector<const Lane*>{&fails, &spoiled, &good}, 0.05, 4);
  ASSERT_EQ(heat.lost.size(), 2U);
  EXPECT_EQ(heat.lost[0].reason, fails.never_runs);
  EXPECT_EQ(heat.lost[1].lane, 1U);
  Lane flies = good;
  flies.in_flight = 1;
  const Heat waits = next_heat(std::vector<const Lane*>{&flies, &good, &fails}, 0.05, 4);
  EXPECT_TRUE(waits.waits);
  EXPECT_TRUE(waits.lost.empty() && waits.run.empty());
  EXPECT_FALSE(is_race(std::vector<const Lane*>{&spoiled, &spoiled}))
      << "two are tested as they are";
  EXPECT_TRUE(is_race(std::vector<const Lane*>{&good, &flies})) << "but a race goes on";
}

// Four values of one setting: "4" saves most. The race chooses it, and its evidence starts at zero.
class RaceLoop : public testing::Test {
 protected:
  RaceLoop() {
    Settings settings;
    settings.per_family = 3;
    settings.same_wanted = 0;
    CampaignRecord campaign{"c-1", "seed", {20, 0.05, 0}, 0};
    experiments.emplace(settings, campaign, Circumstances{});
    FamilyRecord record;
    record.spec.family = "train";
    record.spec.command = {"train"};
    record.spec.inputs = {"data/*"};
    record.state.name = "train";
    record.state.profiled = true;
    EXPECT_TRUE(experiments->add(std::move(record)));
    for (const std::string value : {"1", "2", "4", "8"}) {
      model::Hypothesis h;
      h.id = "h-" + value;
      h.family = "train";
      h.title = value + " workers";
      h.race = "--workers";
      h.change.args["--workers"] = value;
      h.predicted_gain = 0.3;
      experiments->add(h);
    }
  }
  std::vector<RunRace> races() const {
    std::vector<RunRace> found;
    for (const Intent& intent : experiments->plan()) {
      if (const auto* race = std::get_if<RunRace>(&intent)) found.push_back(*race);
    }
    return found;
  }
  void act_all() {
    for (bool acted = true; acted;) {
      acted = false;
      for (const Intent& intent : experiments->plan()) {
        const auto done = experiments->act(intent, effects);
        ASSERT_TRUE(done) << done.error().text;
        if ((acted = *done)) break;
      }
    }
  }
  void run_block(const RunRace& race) {
    const model::Pair order = *experiments->order_for(race);
    experiments->began(order);
    EXPECT_TRUE(races().empty()) << "one block at a time";
    EXPECT_FALSE(settled(experiments->state()));
    std::vector<model::Pair> pairs{order};
    for (const model::SharedVariant& variant : order.shared)
      pairs.push_back(pair_of(variant, order));
    for (const model::Pair& pair : pairs) {
      indices[pair.aim.target].push_back(pair.index);
      experiments->ended(ended(pair, fact_of(pair, effect.at(pair.aim.target))));
    }
  }

  std::optional<Experiments> experiments;
  RecordedEffects effects;
  std::map<std::string, double> effect{{"h-1", 0.02}, {"h-2", 0.2}, {"h-4", 0.25}, {"h-8", -0.4}};
  std::map<std::string, std::vector<int>> indices;
};

TEST_F(RaceLoop, TheBestValueIsTestedOnFreshPairsAndTheOthersAreDropped) {
  act_all();
  ASSERT_EQ(races().size(), 1U);
  EXPECT_EQ(races()[0].hypotheses.size(), 4U);
  const model::Pair block = *experiments->order_for(races()[0]);
  EXPECT_TRUE(block.experiment.empty());
  EXPECT_EQ(block.shared.size(), 3U);
  EXPECT_EQ(block.order.size(), 5U);
  for (int blocks = 0; blocks < 5 && !races().empty(); ++blocks) {
    run_block(races()[0]);
    act_all();
  }
  EXPECT_EQ(indices.at("h-8"), std::vector<int>{1}) << "dropped after the first block";
  EXPECT_EQ(indices.at("h-4"), (std::vector<int>{1, 2, 3}));
  std::set<std::string> dropped;
  for (const Judged& judged : effects.all<Judged>()) {
    EXPECT_EQ(judged.verdict.kind, model::VerdictKind::kDropped);
    EXPECT_TRUE(judged.verdict.experiment.empty());
    dropped.insert(judged.verdict.hypothesis);
  }
  EXPECT_EQ(dropped, (std::set<std::string>{"h-1", "h-2", "h-8"}));
  ASSERT_EQ(experiments->state().experiments.size(), 1U);
  const ExperimentState& x = experiments->state().experiments[0];
  EXPECT_EQ(x.hypothesis, "h-4");
  EXPECT_EQ(x.log_e, 0) << "the choice is no evidence";
  EXPECT_EQ(x.compare_pairs, 0);
}

TEST_F(RaceLoop, PairsOfAnEarlierBaselineUseUpIndicesAndTellNothing) {
  act_all();
  model::Pair old = *experiments->order_for(races().at(0));
  const std::string first = old.aim.target;
  old.state = model::PairState::kCollected;
  experiments->raced(ended(old, fact_of(old, 0.9)), false);
  const RunRace race = races().at(0);
  const model::Pair next = *experiments->order_for(race);
  EXPECT_EQ(next.aim.target, first);
  EXPECT_EQ(next.index, old.index + 1);
  EXPECT_EQ(race.hypotheses.size(), 4U);
}

}  // namespace
}  // namespace amdahl::loop
