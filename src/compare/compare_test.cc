#include "compare/compare.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::compare {
namespace {

using model::Answer;
using model::PairFact;
using model::Purpose;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PairFact pair_of(int index, double cost_a, double cost_b, double work = 10) {
  PairFact pair;
  pair.index = index;
  pair.a.cost = cost_a;
  pair.b.cost = cost_b;
  pair.a.work = pair.b.work = work;
  return pair;
}

TEST(Compare, RatioIsOfCostPerWork) {
  PairFact pair = pair_of(0, 20, 20);
  EXPECT_EQ(log_ratio(pair), 0);
  pair.b.work = 20;  // Twice the work for the same cost.
  EXPECT_DOUBLE_EQ(*log_ratio(pair), std::log(2));
  // The direction belongs to a reported metric: a cost is better low.
  EXPECT_DOUBLE_EQ(*log_ratio(pair, false), std::log(2));
}

TEST(Compare, AReportedMetricTakesThePlaceOfTheCost) {
  PairFact pair = pair_of(0, 20, 10);
  pair.a.metric = 100;
  pair.b.metric = 110;
  EXPECT_NEAR(*log_ratio(pair, true), -std::log(1.1), 1e-15);
  EXPECT_NEAR(*log_ratio(pair, false), std::log(1.1), 1e-15);
  model::Spec spec;
  EXPECT_DOUBLE_EQ(*log_ratio(pair, spec), std::log(2)) << "the spec's metric is the cost";
  spec.metric = "images_per_s";
  spec.lower_is_better = false;
  EXPECT_NEAR(*log_ratio(pair, spec), std::log(1.1), 1e-15);
}

// Each pair of steps had its own coin, so each is a pair of its own for the evidence.
TEST(Compare, StepsAreFoldedOneByOne) {
  PairFact pair = pair_of(0, 5, 5);  // One process: its cost says nothing of the arms.
  pair.steps = {{false, 2, 1}, {true, 3, 1}, {false, 4, 1}};
  EXPECT_EQ(log_ratios(pair), (std::vector<double>{std::log(2), std::log(3), std::log(4)}));
  // Of the six averages the median lies between that of the outer two and the middle one.
  EXPECT_DOUBLE_EQ(*log_ratio(pair), (0.5 * (std::log(2) + std::log(4)) + std::log(3)) / 2);
  const PairFact pairs[] = {pair, pair_of(1, 20, 10)};
  EXPECT_EQ(resolved_prefix(pairs, {}),
            (std::vector<double>{std::log(2), std::log(3), std::log(4), *log_ratio(pairs[1])}));
  model::Spec spec;
  spec.metric = "steps_per_s";
  spec.lower_is_better = false;
  EXPECT_EQ(log_ratios(pair, spec).front(), -std::log(2)) << "the steps are in the metric's unit";
}

TEST(Compare, ABadStepVoidsItsPairAsAWhole) {
  PairFact pair = pair_of(0, 5, 5);
  pair.steps = {{false, 2, 1}, {true, 3, 0}};
  EXPECT_EQ(why_void(pair), "B's step 2 is 0");
  EXPECT_EQ(log_ratio(pair), std::nullopt);
  EXPECT_TRUE(log_ratios(pair).empty());
  pair.steps = {{false, std::nan(""), 1}};
  EXPECT_EQ(why_void(pair), "A's step 1 is nan");
  pair.b.failed = true;
  EXPECT_EQ(why_void(pair), "B: failed");
}

TEST(Compare, TopUpsNeverFeedTheEvidence) {
  PairFact top_up = pair_of(1, 20, 10);
  top_up.purpose = Purpose::kTopUp;
  top_up.steps = {{false, 2, 1}};
  const PairFact pairs[] = {pair_of(0, 20, 10), top_up};
  EXPECT_EQ(resolved_prefix(pairs, {}).size(), 1U);
}

TEST(Compare, SaysWhyAPairIsVoid) {
  struct Case {
    std::string name;
    void (*spoil)(PairFact&);
    std::string want;
  };
  const Case kCases[] = {
      {"sound", [](PairFact&) {}, ""},
      {"failed", [](PairFact& p) { p.b.failed = true, p.b.failure = "exit 1"; }, "B: exit 1"},
      {"both failed", [](PairFact& p) { p.a.failed = p.b.failed = true, p.a.failure = "exit 2"; },
       "A: exit 2; B: failed"},
      {"no work", [](PairFact& p) { p.a.work.reset(); }, "A reports no work"},
      {"zero work", [](PairFact& p) { p.b.work = 0; }, "B reports 0 units of work"},
      {"unknown work", [](PairFact& p) { p.b.work = std::nan(""); }, "B reports nan units of work"},
      {"no cost", [](PairFact& p) { p.a.cost = 0; }, "A cost 0 accelerator-seconds"},
      {"half a metric", [](PairFact& p) { p.a.metric = 3; }, "B reports no metric"},
      {"bad metric", [](PairFact& p) { p.a.metric = 3, p.b.metric = -1; },
       "B reports a metric of -1"},
      {"voided", [](PairFact& p) { p.voided = true, p.void_reason = "host lost"; }, "host lost"},
      {"voided in silence", [](PairFact& p) { p.voided = true; }, "void"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    PairFact pair = pair_of(0, 10, 9);
    c.spoil(pair);
    EXPECT_EQ(why_void(pair), c.want);
    EXPECT_EQ(log_ratio(pair).has_value(), c.want.empty());
  }
  model::Spec spec;
  spec.metric = "loss";
  EXPECT_EQ(why_void(pair_of(0, 10, 9), spec), "A reports no loss; B reports no loss");
  EXPECT_EQ(log_ratio(pair_of(0, 10, 9), spec), std::nullopt);
}

TEST(Compare, PrefixStopsAtTheFirstOpenPair) {
  std::vector<PairFact> pairs;
  for (const int index : {3, 0, 1, 5, 2}) pairs.push_back(pair_of(index, std::exp(index), 1));
  pairs[2].voided = true;               // Index 1.
  pairs.push_back(pair_of(4, 100, 1));  // Targeted pairs never feed E.
  pairs.back().purpose = Purpose::kTopUp;
  pairs[0].purpose = Purpose::kReplicate;  // Index 3 does.
  const auto rounded = [](std::vector<double> d) {
    for (double& value : d) value = std::round(value);
    return d;
  };
  EXPECT_EQ(rounded(resolved_prefix(pairs, {})), (std::vector<double>{0, 2, 3, 5}));
  const std::vector<int> open = {9, 3};
  EXPECT_EQ(rounded(resolved_prefix(pairs, open)), (std::vector<double>{0, 2}));
  EXPECT_EQ(rounded(resolved_prefix(pairs, open, model::Spec{})), (std::vector<double>{0, 2}));
}

TEST(Compare, TheFourAnswersSayTheirNumbers) {
  const Design design{.sigma = 0.02, .delta = 0.02, .cap = 40};
  struct Case {
    std::vector<double> d;
    Answer answer;
    std::string because;
  };
  const Case kCases[] = {
      {{}, Answer::kCannotTell, "no valid pair yet: about 6 pairs may decide it"},
      {{0.11, 0.09, 0.10, 0.12, 0.08, 0.10, 0.11},
       Answer::kBetter,
       "saves 9.5 % (7.8 % to 11 % saved, 95 % confidence each side) over 7 pairs; E "
       "for better is 82.8, threshold 20"},
      {{-0.11, -0.09, -0.10, -0.12, -0.08, -0.10, -0.11},
       Answer::kWorse,
       "costs 11 % more (-13 % to -8.5 % saved, 95 % confidence each side) over 7 "
       "pairs; E for worse is 82.8, threshold 20"},
      {{0.002, -0.001, 0.003, -0.002, 0.001, -0.003, 0.002, 0.0},
       Answer::kSame,
       "saves 0.0 % (-0.8 % to 0.8 % saved, 95 % confidence each side) over 8 pairs; "
       "evidence that it saves less than 2.0 %: E is 74.4, threshold 5"},
      {{0.02, -0.01},
       Answer::kCannotTell,
       "saves 0.5 % (no bound yet) over 2 pairs; E is 0.89 for better (threshold 20) and 1.71 for "
       "no effect (threshold 5); about 4 more pairs may decide it"},
  };
  for (const Case& c : kCases) {
    const model::Comparison got = judge(c.d, design);
    SCOPED_TRACE(got.because);
    EXPECT_EQ(got.answer, c.answer);
    EXPECT_EQ(got.pairs, static_cast<int>(c.d.size()));
    EXPECT_EQ(got.because, c.because);
    EXPECT_EQ(pairs_still_needed(got, design) == 0, c.answer != Answer::kCannotTell);
  }
}

TEST(Compare, WithoutPairsNothingIsKnown) {
  const model::Comparison got = judge({}, {});
  EXPECT_EQ(got.lower, -kInfinity);
  EXPECT_EQ(got.upper, kInfinity);
  EXPECT_EQ(got.smallest_visible, kInfinity);
  EXPECT_EQ(got.log_e_win, 0);
}

TEST(Compare, AtTheCapItSaysWhatItCouldHaveSeen) {
  std::vector<double> d;
  for (int i = 0; i < 12; ++i) d.push_back(i % 2 == 0 ? 0.09 : -0.06);
  const Design design{.sigma = 0.05, .delta = 0.03, .beta = 0.001, .cap = 12};
  const model::Comparison got = judge(d, design);
  EXPECT_EQ(got.answer, Answer::kCannotTell);
  EXPECT_GT(got.smallest_visible, 0);
  EXPECT_EQ(got.smallest_visible, 0.5 * (got.upper - got.lower));
  EXPECT_EQ(got.because,
            "saves 1.5 % (-5.5 % to 8.0 % saved, 95 % confidence each side) over 12 "
            "pairs; E is 0.03 for better (threshold 20) and 0.03 for no effect (threshold "
            "1000); the limit of 12 pairs is reached, too few to show an effect below 6.6 %");
  EXPECT_EQ(pairs_still_needed(got, design), 0);
}

TEST(Compare, DesignComesFromTheRegistration) {
  model::Experiment experiment;
  experiment.sigma = 0.02;
  experiment.delta = 0.03;
  experiment.beta = 0.1;
  experiment.cap = 12;
  const Design design = design_of(experiment);
  EXPECT_EQ(design.sigma, 0.02);
  EXPECT_EQ(design.delta, 0.03);
  EXPECT_EQ(design.beta, 0.1);
  EXPECT_EQ(design.cap, 12);
  EXPECT_EQ(design.win_threshold, 20);
}

}  // namespace
}  // namespace amdahl::compare
