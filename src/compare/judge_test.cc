#include "compare/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::compare {
namespace {

using model::Answer;

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// Noise of about `sigma` around `effect`, the same on every machine.
std::vector<double> noisy(double effect, double sigma, int n) {
  std::vector<double> d;
  std::uint32_t state = 12345;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525U + 1013904223U;
    const double uniform = (static_cast<double>(state >> 8) + 0.5) / (1U << 24U);
    d.push_back(effect + 0.55 * sigma * std::log(uniform / (1 - uniform)));
  }
  return d;
}

Judge folded(const std::vector<double>& d, const Design& design) {
  Judge judge(design);
  for (const double value : d) judge.fold(value);
  return judge;
}

// Not one bit may depend on how the pairs came in.
void expect_identical(const model::Comparison& a, const model::Comparison& b) {
  EXPECT_EQ(a.answer, b.answer);
  EXPECT_EQ(a.pairs, b.pairs);
  EXPECT_EQ(a.log_e_win, b.log_e_win);
  EXPECT_EQ(a.log_e_worse, b.log_e_worse);
  EXPECT_EQ(a.log_e_futile, b.log_e_futile);
  EXPECT_EQ(a.effect, b.effect);
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_EQ(a.upper, b.upper);
  EXPECT_EQ(a.shrunk, b.shrunk);
  EXPECT_EQ(a.smallest_visible, b.smallest_visible);
  EXPECT_EQ(a.because, b.because);
}

TEST(Judge, SaysAtEveryPeekWhatJudgingAllAtOnceSays) {
  const Design design{.sigma = 0.03, .delta = 0.015};
  Judge judge(design);
  std::vector<double> so_far;
  expect_identical(judge.comparison(), compare::judge({}, design));
  for (const double d : noisy(0.05, 0.03, 25)) {
    judge.fold(d);
    so_far.push_back(d);
    const model::Comparison all = compare::judge(so_far, design);
    expect_identical(judge.comparison(), all);
    EXPECT_EQ(judge.answer(), all.answer);
    EXPECT_EQ(judge.effect(), all.effect);
    EXPECT_EQ(judge.pairs_still_needed(), pairs_still_needed(all, design));
  }
  EXPECT_EQ(judge.answer(), Answer::kBetter);
}

TEST(Judge, OrderAndSplitDoNotMatter) {
  const Design design{.sigma = 0.04, .two_sided = true};
  std::vector<double> d = noisy(0.01, 0.04, 30);
  const model::Comparison want = folded(d, design).comparison();
  std::ranges::sort(d);
  expect_identical(folded(d, design).comparison(), want);
  std::ranges::reverse(d);
  expect_identical(folded(d, design).comparison(), want);

  Judge left(design);
  Judge right(design);
  for (std::size_t i = 0; i < d.size(); ++i) (i % 3 == 0 ? left : right).fold(d[i]);
  Judge merged = left;
  merged.merge(right);
  expect_identical(merged.comparison(), want);
  right.merge(left);
  expect_identical(right.comparison(), want);
  EXPECT_EQ(merged.log_e_not_worse(), folded(d, design).log_e_not_worse());
}

TEST(Judge, APeekIsTheComparisonWithoutBounds) {
  const Design design{.sigma = 0.03};
  const Judge judge = folded(noisy(0.1, 0.03, 9), design);
  const model::Comparison whole = judge.comparison();
  const model::Comparison peek = judge.peek();
  EXPECT_EQ(peek.answer, whole.answer);
  EXPECT_EQ(peek.log_e_win, whole.log_e_win);
  EXPECT_EQ(peek.effect, whole.effect);
  EXPECT_EQ(peek.lower, -kInfinity);
  EXPECT_EQ(peek.upper, kNoBound);
  EXPECT_EQ(peek.because, "");
  EXPECT_GT(whole.lower, 0) << "better and a bound below 0 would contradict each other";
}

// A one-sided design dismisses what saves nothing, also when it does harm; a person is told which.
TEST(Judge, TwoSidedTellsHarmFromNothing) {
  const Design one{.sigma = 0.03, .delta = 0.02};
  Design two = one;
  two.two_sided = true;
  const auto first_answer = [](const Design& design, const std::vector<double>& d) {
    Judge judge(design);
    for (const double value : d) {
      judge.fold(value);
      if (judge.answer() != Answer::kCannotTell) break;
    }
    return judge.answer();
  };
  EXPECT_EQ(first_answer(one, noisy(-0.06, 0.03, 60)), Answer::kSame);
  EXPECT_EQ(first_answer(two, noisy(-0.06, 0.03, 60)), Answer::kWorse);
  EXPECT_EQ(first_answer(two, noisy(0.06, 0.03, 60)), Answer::kBetter);
  EXPECT_EQ(first_answer(two, noisy(0, 0.015, 60)), Answer::kSame);
  const std::string why = folded(noisy(0, 0.015, 60), two).comparison().because;
  EXPECT_TRUE(why.ends_with("; the same threshold is passed for costs")) << why;
}

TEST(Judge, WithoutPairsThereIsNoAnswer) {
  const Judge judge(Design{});
  EXPECT_EQ(judge.answer(), Answer::kCannotTell);
  EXPECT_EQ(judge.pairs(), 0);
  EXPECT_EQ(judge.effect(), 0);
  EXPECT_EQ(judge.log_e_win(), 0);
  EXPECT_GT(judge.pairs_still_needed(), 0);
}

}  // namespace
}  // namespace amdahl::compare
