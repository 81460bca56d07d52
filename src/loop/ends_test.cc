// From any state the loop comes to its end: settled, or waiting for a person.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "loop/experiments.h"
#include "loop/testing.h"

namespace amdahl::loop {
namespace {

// More acts and pairs than any honest campaign of this size takes.
constexpr int kMostActs = 4000;
constexpr int kMostRounds = 2000;

// A world that does to pairs what it likes, from a seed.
struct World {
  explicit World(unsigned seed) : random{seed} {}

  double uniform() { return std::uniform_real_distribution<>(0, 1)(random); }
  int below(int n) { return std::uniform_int_distribution<>(0, n - 1)(random); }

  // How pairs of a family end: lost, failed in either arm, or with an effect; steps give many.
  std::optional<model::PairFact> end(const model::Pair& pair) {
    if (uniform() < lost) return std::nullopt;
    const double d = pair.aim.purpose == model::Purpose::kSame ? 0 : effect;
    model::PairFact fact = fact_of(pair, std::normal_distribution<>(d, noise)(random));
    if (uniform() < a_fails) fact.a.failed = fact.voided = true;
    if (uniform() < b_fails) fact.b.failed = fact.voided = true;
    if (fact.voided) fact.void_reason = "exit 1";
    if (uniform() < numberless) fact.voided = true;
    for (int i = 0; pair.steps && !fact.voided && i < 64; ++i) {
      const double step = std::normal_distribution<>(d, 4 * noise)(random);
      fact.steps.push_back({i % 2 == 0, 1, std::exp(-step)});
    }
    return fact;
  }

  std::mt19937 random;
  double effect = uniform() < 0.4 ? 0 : 0.4 * uniform() - 0.1;
  double noise = 0.002 + 0.3 * uniform() * uniform();
  double lost = below(4) == 0 ? uniform() : 0;
  double a_fails = below(4) == 0 ? uniform() : 0;
  double b_fails = below(4) == 0 ? uniform() : 0;
  double numberless = below(4) == 0 ? uniform() : 0;
  double granted = below(3) == 0 ? 0.2 : 1;  // Of the wishes; or none, for ever.
};

Experiments random_experiments(World& world) {
  Settings settings;
  settings.per_family = 1 + world.below(4);
  settings.same_wanted = world.below(8);
  settings.cap = 5 + world.below(60);
  Experiments experiments(settings, {"c-1", "5eed", {1 + world.below(8), 0.1, 0}, 0}, {});
  const int families = 1 + world.below(2);
  for (int f = 0; f < families; ++f) {
    const char* pairings[] = {"same-allocation", "concurrent", "steps"};
    FamilyRecord record;
    record.spec.family = record.state.name = "f" + std::to_string(f);
    record.spec.command = {"job"};
    if (world.below(8) > 0) record.spec.inputs.push_back("data/*");
    record.spec.pairing = pairings[world.below(3)];
    if (world.below(2) == 0) record.spec.outputs.push_back({"{out}/x", true});
    record.state.profiled = true;
    record.state.volume_known = world.below(2) == 0;
    record.state.volume_accelerator_h_per_day = 100 * world.uniform();
    EXPECT_TRUE(experiments.add(record));
    for (int i = 0; i < 1 + world.below(5); ++i) {
      model::Hypothesis h;
      h.id = "h-" + std::to_string(10 * f + i);
      h.family = record.spec.family;
      h.change.env["N"] = std::to_string(i);
      h.predicted_gain = 0.5 * world.uniform();
      experiments.add(h);
    }
  }
  return experiments;
}

// All there is to decide; false if that has no end.
bool decide_all(Experiments& experiments, RecordedEffects& effects) {
  for (int acts = 0; acts < kMostActs; ++acts) {
    bool acted = false;
    for (const Intent& intent : experiments.plan()) {
      const auto did = experiments.act(intent, effects);
      EXPECT_TRUE(did) << did.error().text;
      acted = did && *did;
      if (acted) break;
    }
    if (!acted) return true;
  }
  return false;
}

class Ends : public testing::TestWithParam<unsigned> {};

TEST_P(Ends, InABoundedNumberOfStepsHoweverPairsEnd) {
  World world(GetParam());
  Experiments experiments = random_experiments(world);
  RecordedEffects effects;
  for (int round = 0; round < kMostRounds; ++round) {
    ASSERT_TRUE(decide_all(experiments, effects));
    std::vector<model::Pair> flying;
    for (const Intent& wish : one_by_one(experiments.plan())) {
      if (world.uniform() >= world.granted) continue;
      if (const auto order = experiments.order_for(wish)) {
        experiments.began(*order);
        flying.push_back(*order);
      }
    }
    if (flying.empty() && experiments.plan().empty()) {
      EXPECT_TRUE(settled(experiments.state()));
      return;
    }
    for (const model::Pair& pair : flying) {
      experiments.ended(ended(pair, world.end(pair)));
      for (const model::SharedVariant& variant : pair.shared) {
        const model::Pair own = pair_of(variant, pair);
        experiments.ended(ended(own, world.end(own)));
      }
    }
    if (world.below(4) != 0) continue;
    for (const ExperimentState& x : std::vector(experiments.state().experiments)) {
      if (x.stage != model::Stage::kGate) continue;
      // A second of one family is refused once the first has moved the baseline.
      (void)experiments.decide(x.id, {world.below(2) == 0, "ada", "a coin"}, effects);
    }
  }
  ADD_FAILURE() << "it never came to rest";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Ends, testing::Range(0U, 300U));

TEST(Ends, WishesThatNobodyGrantsLeaveNothingToDecide) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    World world(seed);
    Experiments experiments = random_experiments(world);
    RecordedEffects effects;
    ASSERT_TRUE(decide_all(experiments, effects)) << "seed " << seed;
    for (const Intent& intent : experiments.plan()) {
      const auto did = experiments.act(intent, effects);
      ASSERT_TRUE(did);
      EXPECT_FALSE(*did);
    }
  }
}

}  // namespace
}  // namespace amdahl::loop
