#include "app/tune_ceilings.h"

#include <cmath>

#include "app/test_kit.h"
#include "model/codec.h"

namespace amdahl::app {
namespace {

class TuneCeilingsTest : public ContextTest {
 protected:
  TuneCeilingsTest() {
    adopt();
    model::Profile profile;
    profile.id = "r-1";
    profile.family = "eval";
    profile.evidence = {{"input_wait_share", 0.3}, {"checkpoint_share", 0.0}};
    EXPECT_EQ(say({{"profile.recorded", "cycle", "eval", encode(profile)}}), "");
    propose("h-1", "inject-loader-workers-one", 0.2);
    propose("h-2", "inject-loader-thread", 0.1);
    propose("h-3", "inject-loader-workers-none", 0.2);  // Acts on more than the input.
  }

  void propose(const std::string& id, const std::string& entry, double gain) {
    model::Hypothesis h;
    h.id = id;
    h.family = "eval";
    h.key = "key of " + id;
    h.title = entry;
    h.change.args["--" + id] = "1";
    h.origin = {"playbook", entry};
    h.predicted_gain = gain;
    EXPECT_EQ(say({{"hypothesis.proposed", "cycle", id, encode(h)}}), "");
  }

  void weigh(double upper, const std::string& problem = "") {
    Ceiling ceiling{"input", 1.43, upper - 0.02, upper - 0.04, upper, 3, problem};
    const auto weighed = weigh_by(context_, ceiling,
                                  {"eval", 3, [&](const std::string& text) { said_ += text; }, {}});
    EXPECT_TRUE(weighed) << weighed.error().text;
  }

  std::string state(const std::string& id) { return context_.ledger->hypothesis(id)->state; }
  double claim(const std::string& id) {
    return context_.ledger->hypothesis(id)->hypothesis.predicted_gain;
  }

  std::string said_;
};

TEST_F(TuneCeilingsTest, CausesOnWhichSeveralIdeasActAreMeasured) {
  EXPECT_EQ(*causes_to_measure(context_, "eval", 2), std::vector<std::string>{"input"});
  EXPECT_TRUE(causes_to_measure(context_, "eval", 3)->empty()) << "two act on the input alone";
  EXPECT_EQ(*causes_to_measure(context_, "eval", 0), std::vector<std::string>{"input"})
      << "no time goes into checkpoints, and none is known to go into logs";
}

TEST_F(TuneCeilingsTest, WhatCannotPayIsDroppedAndNoOneClaimsMoreThanTheCeiling) {
  weigh(1.01, "the injection did not engage");
  EXPECT_EQ(state("h-1"), "live");
  EXPECT_DOUBLE_EQ(claim("h-1"), 0.2);
  weigh(1.15);
  EXPECT_EQ(state("h-1"), "live");
  EXPECT_NEAR(claim("h-1"), 1 - 1 / 1.15, 1e-9);
  EXPECT_DOUBLE_EQ(claim("h-2"), 0.1);
  weigh(1.01);
  EXPECT_EQ(state("h-1"), "dropped");
  EXPECT_EQ(state("h-2"), "dropped");
  EXPECT_EQ(state("h-3"), "live");
  EXPECT_DOUBLE_EQ(claim("h-3"), 0.2);
  EXPECT_EQ((*context_.ledger->verdict("h-1"))->reason,
            "even without its cause too little is saved (input: computed at most 1.43x, measured "
            "0.99x (0.97 to 1.01, 3 pairs))");
}

}  // namespace
}  // namespace amdahl::app
