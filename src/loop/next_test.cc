#include "loop/next.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace amdahl::loop {
namespace {

State one_family() {
  State s;
  s.campaign_open = true;
  s.families.push_back(
      {.name = "eval", .volume_accelerator_h_per_day = 100, .profiled = true, .same_pairs = 6});
  return s;
}

ExperimentState under_test() {
  ExperimentState x;
  x.id = "x-1";
  x.hypothesis = "h-1";
  x.family = "eval";
  x.stage = model::Stage::kCompare;
  x.claim = 0.1;
  x.pairs_certain = 3;
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

TEST(Next, WhatTheScanChoseComesFirst) {
  State s = one_family();
  s.families.push_back({.name = "idle"});
  s.families.push_back({.name = "train", .place = 1});
  s.families.push_back({.name = "vision", .place = 0});
  s.families[0].profiled = false;
  std::vector<std::string> order;
  for (const Profile& wish : only<Profile>(next(s))) order.push_back(wish.family);
  EXPECT_EQ(order, (std::vector<std::string>{"vision", "train", "eval", "idle"}));
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

TEST(Next, TheNoiseIsKnownBeforeTheFirstExperiment) {
  State s = one_family();
  s.families[0].same_pairs = 4;
  s.queued = {{"h-1", "eval", 0.1, 0.1}};
  EXPECT_TRUE(only<Register>(next(s)).empty());
  EXPECT_EQ(only<RunSame>(next(s)).size(), 2U) << "A/A pairs are urgent now";
  s.families[0].same_failures = 6;
  EXPECT_EQ(only<Register>(next(s)).size(), 1U) << "they cannot be had";
}

// A promotion moved the baseline: the job's noise is known, and what the panel needs of the new
// baseline is bought when there is something to judge.
TEST(Next, APairOfTheBaselineBeforeTellsTheNoiseButNothingToThePanel) {
  State s = one_family();
  s.families[0].same_pairs = 0;
  s.families[0].same_before = 6;
  s.queued = {{"h-1", "eval", 0.1, 0.1}};
  EXPECT_EQ(only<Register>(next(s)).size(), 1U);
  s.queued.clear();
  s.experiments.push_back(under_test());
  s.experiments[0].stage = model::Stage::kRefute;
  s.experiments[0].replicate_pairs = 36;
  s.experiments[0].replicated = model::Vote::kAgree;
  EXPECT_TRUE(only<AskPanel>(next(s)).empty());
  EXPECT_EQ(only<RunSame>(next(s)).size(), 6U);
}

TEST(Next, WhereOnePersonWaitsOtherIdeasWaitForAWin) {
  State s = one_family();
  s.settings.per_family = 3;
  s.experiments = {under_test(), under_test()};
  s.experiments[1].id = "x-2";
  s.experiments[1].stage = model::Stage::kRefute;
  s.queued = {{"h-3", "eval", 0.1, 0.1}};
  const auto of = [&](const std::string& id) {
    return std::ranges::count(only<RunPair>(next(s)), id, &RunPair::experiment);
  };
  EXPECT_EQ(of("x-1"), 1);
  EXPECT_EQ(only<Register>(next(s)).size(), 1U);
  s.settings.wins_first = true;
  EXPECT_EQ(of("x-1"), 0) << "its promotion would end their tests";
  EXPECT_EQ(of("x-2"), 1);
  EXPECT_TRUE(only<Register>(next(s)).empty());
  s.experiments[1].stage = model::Stage::kHold;
  EXPECT_EQ(of("x-1"), 1);
  s.experiments[1].stage = model::Stage::kRefute;
  s.experiments[1].baseline_moved = true;
  EXPECT_EQ(of("x-1"), 1);
}

TEST(Next, HeldClaimsDoNotBlockTheFamily) {
  State s = one_family();
  ExperimentState x = under_test();
  x.stage = model::Stage::kHold;
  s.experiments.push_back(x);
  s.queued = {{"h-2", "eval", 0.1, 0.1}};
  EXPECT_EQ(only<Register>(next(s)).size(), 1U);
}

TEST(Next, AsksForFewPairsAtOnceUntilItCanTell) {
  State s = one_family();
  s.experiments.push_back(under_test());
  EXPECT_EQ(only<RunPair>(one_by_one(next(s))).size(), 2U);
  s.experiments[0].in_flight = 1;
  EXPECT_EQ(only<RunPair>(one_by_one(next(s))).size(), 1U);
  s.experiments[0].in_flight = 0;
  s.experiments[0].compare_pairs = s.experiments[0].compare_ratios = 36;
  EXPECT_EQ(only<RunPair>(one_by_one(next(s))).size(), 3U);
}

TEST(Next, WhatIsParkedGoesOnWhereNobodyElseWantsTheSlot) {
  State s = one_family();
  s.settings.per_family = 2;
  for (const char* id : {"x-1", "x-2"}) {
    s.experiments.push_back(under_test());
    s.experiments.back().id = id;
    s.experiments.back().compare_pairs = s.experiments.back().compare_ratios = 3;
  }
  ExperimentState& parked = s.experiments[0];
  parked.parked = true;
  parked.claim = 0.5;
  parked.promise = s.settings.idle_from;
  const auto wishes = only<RunPair>(next(s));
  ASSERT_EQ(wishes.size(), 2U);
  EXPECT_EQ(wishes[0].experiment, "x-2") << "though the other's job is worth more";
  EXPECT_EQ(wishes[1].experiment, "x-1");
  EXPECT_EQ(wishes[1].pairs, 1);
  parked.promise = s.settings.idle_from / 2;
  EXPECT_EQ(only<RunPair>(next(s)).size(), 1U) << "not even an idle slot";
  EXPECT_TRUE(only<Close>(next(s)).empty()) << "parked is no verdict";
  s.experiments.pop_back();
  EXPECT_TRUE(settled(s));
}

TEST(Next, AClaimThatOnlyTheLevelHoldsBackGoesOnWhenSlotsAreIdle) {
  State s = one_family();
  s.experiments.push_back(under_test());
  ExperimentState& x = s.experiments[0];
  x.stage = model::Stage::kHold;
  x.log_e = std::log(50.0);
  x.promise = 0.01;
  EXPECT_TRUE(next(s).empty()) << "what else holds it back no pair can mend";
  x.passed = true;
  ASSERT_EQ(only<RunPair>(next(s)).size(), 1U);
  EXPECT_EQ(only<RunPair>(next(s))[0].purpose, model::Purpose::kReplicate);
}

TEST(Next, WhatThePanelWouldStillAskIsBoughtAtTheLevel) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].stage = model::Stage::kHold;
  s.experiments[0].log_e = std::log(1500.0);
  s.experiments[0].wants_top_up = true;
  s.experiments[0].promise = 0;
  EXPECT_TRUE(next(s).empty()) << "it does not reach 2000";
  s.campaign.promoted = 1;
  ASSERT_EQ(next(s).size(), 1U);
  EXPECT_EQ(only<Advance>(next(s)).at(0).stage, model::Stage::kTopUp);
}

TEST(Next, OnlyEvidenceThatLastsClosesForGood) {
  State s = one_family();
  s.experiments.push_back(under_test());
  ExperimentState& x = s.experiments[0];
  x.compare_pairs = x.compare_ratios = 3;
  x.answer = model::Answer::kSame;  // E of 5 against half of the claim: wrong one time in five.
  x.log_e_none = std::log(19.0);
  EXPECT_TRUE(only<Close>(next(s)).empty());
  x.log_e_none = std::log(20.0);
  ASSERT_EQ(only<Close>(next(s)).size(), 1U);
  EXPECT_EQ(only<Close>(next(s))[0].verdict, model::VerdictKind::kNoEffect);
  x.answer = model::Answer::kWorse;
  EXPECT_EQ(only<Close>(next(s)).at(0).verdict, model::VerdictKind::kHarmful);
  x.answer = model::Answer::kCannotTell;
  x.log_e_none = 0;
  x.parked = true;
  x.compare_ratios = s.settings.idle_caps * x.cap;
  EXPECT_TRUE(next(s).empty()) << "parked is no verdict, and three caps are enough";
}

// "No effect" of minus 58 % is a number that nobody should believe: it may be harm.
TEST(Next, WhatLooksLikeHarmGetsPairsBeforeItIsCalledWithoutEffect) {
  State s = one_family();
  s.experiments.push_back(under_test());
  ExperimentState& x = s.experiments[0];
  x.compare_pairs = x.compare_ratios = 5;
  x.log_e_none = std::log(20.0);
  x.effect = -0.5;
  EXPECT_TRUE(only<Close>(next(s)).empty());
  EXPECT_EQ(only<RunPair>(next(s)).size(), 1U);
  x.compare_ratios = x.cap;
  EXPECT_EQ(only<Close>(next(s)).at(0).verdict, model::VerdictKind::kNoEffect);
}

TEST(Next, AWinIsReplicatedBeforeThePanelIsAsked) {
  State s = one_family();
  s.experiments.push_back(under_test());
  ExperimentState& x = s.experiments[0];
  x.answer = model::Answer::kBetter;
  EXPECT_EQ(only<Advance>(next(s)).at(0).stage, model::Stage::kRefute);
  x.stage = model::Stage::kRefute;
  x.log_e = std::log(25.0);
  EXPECT_GE(only<RunPair>(one_by_one(next(s))).size(), 5U);
  x.replicate_pairs = 5;
  EXPECT_FALSE(only<RunPair>(one_by_one(next(s))).empty()) << "the campaign's level is not reached";
  x.log_e = std::log(2500.0);
  EXPECT_EQ(only<RunPair>(one_by_one(next(s))).size(), 1U) << "the fresh ones do not say yet";
  x.replicated = model::Vote::kAgree;
  EXPECT_EQ(only<AskPanel>(next(s)).size(), 1U);
  x.log_e = std::log(25.0);
  x.replicated = model::Vote::kRefute;
  EXPECT_EQ(only<AskPanel>(next(s)).size(), 1U) << "more of them would be spent in vain";
  s.families[0].same_pairs = 5;
  EXPECT_TRUE(only<AskPanel>(next(s)).empty()) << "the panel needs A/A pairs";
}

TEST(Next, ReplicationEndsAtItsCap) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].stage = model::Stage::kRefute;
  s.experiments[0].replicate_pairs = s.settings.replicate_at_most;
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

TEST(Next, AFullCampaignRegistersNothingUntilTheNextIsOpened) {
  State s = one_family();
  s.queued = {{"h-1", "eval", 0.1, 0.1}};
  s.registered = s.campaign.hypotheses;
  s.experiments.push_back(under_test());
  EXPECT_TRUE(only<Register>(next(s)).empty());
  EXPECT_TRUE(only<OpenCampaign>(next(s)).empty()) << "one of its claims is still under test";
  s.experiments[0].stage = model::Stage::kHold;
  EXPECT_EQ(only<Close>(next(s)).at(0).verdict, model::VerdictKind::kInconclusive);
  s.experiments.clear();
  EXPECT_EQ(only<OpenCampaign>(next(s)).size(), 1U);
  s.families.emplace_back();
  s.families.back().name = "never profiled";
  EXPECT_EQ(only<OpenCampaign>(next(s)).size(), 1U) << "another family keeps nobody waiting";
  s.families.pop_back();
  s.registered = 0;
  s.campaign_open = false;
  EXPECT_EQ(only<OpenCampaign>(next(s)).size(), 1U);
  s.queued.clear();
  EXPECT_TRUE(next(s).empty()) << "no campaign without a hypothesis";
}

// K = 200, alpha = 0.10: a claim needs E = 2000, after one promotion 1000.
TEST(Next, ClaimsThatWaitForTheCampaignPassAsItPromotes) {
  State s = one_family();
  for (const char* id : {"x-1", "x-2"}) {
    ExperimentState x = under_test();
    x.id = id;
    x.stage = model::Stage::kHold;
    x.passed = true;
    x.promise = 0;
    x.log_e = std::log(1500.0);
    s.experiments.push_back(x);
  }
  EXPECT_TRUE(next(s).empty()) << "together they would be enough, but one may be declined";
  s.campaign.promoted = 1;
  const auto asked = only<AskPanel>(next(s));
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_NEAR(asked[0].log_level, std::log(1000.0), 1e-12);
}

TEST(Next, WhatDoesNotPayIsDroppedWhereTheVolumeIsKnown) {
  State s = one_family();
  s.families[0].volume_accelerator_h_per_day = 1e-4;
  s.queued = {{"h-1", "eval", 0.1, 0.1}};
  EXPECT_EQ(only<Register>(next(s)).size(), 1U) << "a family hardly seen has no known volume";
  s.families[0].volume_known = true;
  ASSERT_EQ(only<Drop>(next(s)).size(), 1U);
  EXPECT_LT(only<Drop>(next(s))[0].worth, 1);
  EXPECT_TRUE(only<Register>(next(s)).empty());

  s.queued.clear();
  s.experiments.push_back(under_test());
  EXPECT_FALSE(pays(s, s.experiments[0]));
  s.experiments[0].parked = true;
  EXPECT_TRUE(next(s).empty()) << "it keeps its pairs, and costs nothing while it does not pay";
  s.families[0].volume_accelerator_h_per_day = 100;
  EXPECT_EQ(only<RunPair>(next(s)).size(), 1U);
}

TEST(Next, TopUpPairsAreForTheirCheck) {
  State s = one_family();
  s.experiments.push_back(under_test());
  s.experiments[0].stage = model::Stage::kTopUp;
  s.experiments[0].top_up_missing["order"] = 2;
  const auto pairs = only<RunPair>(one_by_one(next(s)));
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].target, "order");
  s.experiments[0].top_up_missing.clear();
  EXPECT_EQ(only<AskPanel>(next(s)).size(), 1U);
}

}  // namespace
}  // namespace amdahl::loop
