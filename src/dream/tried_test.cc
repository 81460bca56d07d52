#include <gtest/gtest.h>

#include "dream/dream.h"

namespace amdahl::dream {
namespace {

class TriedTest : public testing::Test {
 protected:
  TriedTest() {
    spec_.family = "eval";
    spec_.command = {"run", "--workers", "4"};
    model::Knob knob;
    knob.name = "loader_workers";
    knob.arg = "--workers";
    knob.value = "4";
    knob.max = 16;
    spec_.knobs["loader_workers"] = knob;
    profile_.id = "p1";
  }

  static Tried tried(const std::string& id, const std::string& state, double effect,
                     model::Change change) {
    Tried past{{}, state, effect};
    past.hypothesis.id = id;
    past.hypothesis.change = std::move(change);
    return past;
  }
  static model::Change workers(const std::string& count) {
    model::Change change;
    change.args["--workers"] = count;
    return change;
  }
  // "--workers 2 (opposite of h-1 (--workers 8))", best first.
  std::vector<std::string> dreamt(const std::vector<Tried>& past, const model::Change& baseline) {
    std::vector<std::string> all;
    for (const model::Hypothesis& h : from_tried(past, {spec_, baseline, profile_, "cpu"}).ideas) {
      all.push_back(describe(h.change) + " (" + h.origin.ref + ")");
    }
    return all;
  }

  model::Spec spec_;
  model::Profile profile_;
};

TEST_F(TriedTest, NeighboursOfWhatWon) {
  const std::vector<std::string> ideas =
      dreamt({tried("h-1", "promoted", 0.5, workers("8"))}, workers("8"));
  EXPECT_EQ(ideas, (std::vector<std::string>{"--workers 16 (neighbour of h-1 (--workers 8))"}))
      << "the half of it is what the job came with";
  // Beyond the knob's bounds nothing is tried.
  EXPECT_EQ(dreamt({tried("h-1", "promoted", 0.5, workers("16"))}, workers("16")),
            (std::vector<std::string>{"--workers 8 (neighbour of h-1 (--workers 16))"}));
}

TEST_F(TriedTest, OppositesOfWhatHarmed) {
  EXPECT_EQ(dreamt({tried("h-1", "harmful", -0.3, workers("8"))}, {}),
            (std::vector<std::string>{"--workers 2 (opposite of h-1 (--workers 8))"}));
}

TEST_F(TriedTest, WhatCouldNotBeToldAloneIsTriedTogether) {
  model::Change passive;
  passive.env["OMP_WAIT_POLICY"] = "passive";
  const std::vector<Tried> past = {tried("h-1", "parked", 0.02, workers("8")),
                                   tried("h-2", "inconclusive", 0.03, passive),
                                   tried("h-3", "parked", -0.01, workers("2"))};
  EXPECT_EQ(dreamt(past, {}),
            (std::vector<std::string>{"--workers 8, OMP_WAIT_POLICY=passive (h-2 and h-1)"}));
}

// It runs in the sandbox, beside whatever.
TEST_F(TriedTest, AModelsPatchStaysAModels) {
  model::Change patch;
  patch.patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
  std::vector<Tried> past = {tried("h-1", "parked", 0.02, workers("8")),
                             tried("h-2", "parked", 0.03, patch)};
  past[1].hypothesis.origin = {"agent", "claude:sonnet"};
  spec_.repo = "/repo";
  const model::Change baseline;
  const Dreams dreams = from_tried(past, {spec_, baseline, profile_, "cpu"});
  ASSERT_EQ(dreams.ideas.size(), 1U);
  EXPECT_TRUE(model::is_agents_patch(dreams.ideas[0]));
}

TEST_F(TriedTest, WhatWasRefutedTeachesNoDirection) {
  EXPECT_TRUE(dreamt({tried("h-1", "refuted", 0.5, workers("8")),
                      tried("h-2", "no effect", 0.0, workers("6"))},
                     {})
                  .empty());
}

}  // namespace
}  // namespace amdahl::dream
