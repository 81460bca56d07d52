#include "loop/next.h"

#include <cmath>

#include <gtest/gtest.h>

namespace amdahl::loop {
namespace {

State one_family() {
  State s;
  s.log_promotion_threshold = std::log(2000.0);
  s.families.push_back(
      {.name = "eval", .volume_accelerator_h_per_day = 100, .profiled = true, .same_pairs = 6});
  return s;
}

ExperimentState under_test() {
  ExperimentState x;
  x.id = "x-1";
  x.hypothesis = "h-1";
  x.family = "eval";
  x.stage = "compare";
  x.claim = 0.1;
  x.has_same = true;
  x.pairs_needed = 3;
  return x;
}

template <class Wanted>
std::vector<Wanted> only(const std::vector<Intent>& intents) {
  std::vector<Wanted> found;
  for (const Intent& intent : intents) {
    if (const auto* wanted = std::get_if<Wanted>(&intent)) found.push_back(*wanted);
  }
  return found;
}

TEST(Next, ProfilesBeforeItTests) {
  State s = one_family();
  s.families[0].profiled = false;
  s.queued.push_back({"h-1", "eval", 0.1, 0.2});
  EXPECT_EQ(only<Profile>(next(s)).size(), 1U);
  EXPECT_TRUE(only<Register>(next(s)).empty());
  s.families[0].profiling = true;
  EXPECT_TRUE(next(s).empty());
  EXPECT_FALSE(settled(s));
}

TEST(Next, GivesUpOnAFamilyThatCannotBeProfiled) {
  State s = one_family();
  s.families[0].profiled = false;
  s.families[0].profile_failures = 3;
  EXPECT_TRUE(next(s).empty());
  EXPECT_TRUE(settled(s));
}

TEST(Next, RegistersTheMostWorthFirst) {
  State s = one_family();
  s.queued = {{"h-small", "eval", 0.02, 0.1}, {"h-large", "eval", 0.5, 0.3}};
  const auto registered = only<Register>(next(s));
  ASSERT_EQ(registered.size(), 1U) << "one experiment of a family at a time";
  EXPECT_EQ(registered[0].hypothesis, "h-large");
}

TEST(Next, HeldClaimsDoNotBlockTheFamily) {
  State s = one_family();
  ExperimentState x = under_test();
  x.stage = "hold";
  s.experiments.push_back(x);
  s.queued = {{"h-2", "eval", 0.1, 0.1}};
  EXPECT_EQ(only<Register>(next(s)).size(), 1U);
}

TEST(Next, TopsUpPairsUntilItCanTell) {
  State s = one_family();
  s.experiments.push_back(under_test());
  EXPECT_EQ(only<RunPair>(next(s)).size(), 3U);
  s.experiments[0].in_flight = 2;
  EXPECT_EQ(only<RunPair>(next(s)).size(), 1U);
  s.experiments[0].compare_pairs = s.experiments[0].cap;
  ASSERT_EQ(only<Close>(next(s)).size(), 1U);
  EXPECT_EQ(only<Close>(next(s))[0].verdict, model::VerdictKind::kInconclusive);
}

TEST(Next, EveryAnswerHasItsVerdict) {
  struct Case {
    model::Answer answer;
    model::VerdictKind want;
  };
  for (const Case& c : {Case{model::Answer::kSame, model::VerdictKind::kNoEffect},
                        Case{model::Answer::kWorse, model::VerdictKind::kHarmful}}) {
    State s = one_family();
    s.experiments.push_back(under_test());
    s.experiments[0].comparison.answer = c.answer;
    ASSERT_EQ(only<Close>(next(s)).size(), 1U);
    EXPECT_EQ(only<Close>(next(s))[0].verdict, c.want);
  }
}

TEST(Next, AWinIsReplicatedBeforeThePanelIsAsked) {
  State s = one_family();
  s.experiments.push_back(under_test());
  ExperimentState& x = s.experiments[0];
  x.comparison.answer = model::Answer::kBetter;
  EXPECT_EQ(only<Stage>(next(s)).at(0).stage, "refute");
  x.stage = "refute";
  x.log_e_all = std::log(25.0);
  EXPECT_GE(only<RunPair>(next(s)).size(), 5U);
  x.replicate_pairs = 5;
  EXPECT_FALSE(only<RunPair>(next(s)).empty()) << "the campaign's level is not reached";
  x.log_e_all = std::log(2500.0);
  EXPECT_EQ(only<AskPanel>(next(s)).size(), 1U);
  x.has_same = false;
  EXPECT_TRUE(only<AskPanel>(next(s)).empty()) << "the panel needs A/A pairs";
}

TEST(Next, ReplicationEndsAtItsCap) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].stage = "refute";
  s.experiments[0].replicate_pairs = 16;
  EXPECT_EQ(only<AskPanel>(next(s)).size(), 1U);
}

TEST(Next, AVariantThatFailsIsInvalidAndABaselineThatFailsAborts) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].variant_failures = 3;
  EXPECT_EQ(only<Close>(next(s)).at(0).verdict, model::VerdictKind::kInvalid);
  s.experiments[0].variant_failures = 0;
  s.experiments[0].baseline_failures = 3;
  EXPECT_EQ(only<Close>(next(s)).at(0).verdict, model::VerdictKind::kAborted);
}

TEST(Next, AMovedBaselineAbortsWhatWasMeasuredOnTheOldOne) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].baseline_moved = true;
  s.experiments[0].in_flight = 1;
  EXPECT_TRUE(next(s).empty()) << "what is in flight is waited for";
  s.experiments[0].in_flight = 0;
  EXPECT_EQ(only<Close>(next(s)).at(0).verdict, model::VerdictKind::kAborted);
}

TEST(Next, AFullCampaignRegistersNothing) {
  State s = one_family();
  s.queued = {{"h-1", "eval", 0.1, 0.1}};
  s.campaign_full = true;
  EXPECT_TRUE(next(s).empty());
}

TEST(Next, TopUpPairsAreForTheirCheck) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].stage = "top-up";
  s.experiments[0].top_up_missing["order"] = 2;
  const auto pairs = only<RunPair>(next(s));
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].target, "order");
  s.experiments[0].top_up_missing.clear();
  EXPECT_EQ(only<AskPanel>(next(s)).size(), 1U);
}

}  // namespace
}  // namespace amdahl::loop
