#include "stats/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// By the definition, with all averages written out.
double slow_hodges_lehmann(const std::vector<double>& x) {
  std::vector<double> averages;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i; j < x.size(); ++j) averages.push_back(0.5 * (x[i] + x[j]));
  }
  return median(averages);
}

TEST(Estimate, HodgesLehmannIsExactlyTheMedianOfTheAverages) {
  std::mt19937 generator(11);
  std::normal_distribution<double> fine(0, 0.1);
  std::uniform_int_distribution<int> coarse(-5, 5);
  for (std::size_t n = 1; n <= 60; ++n) {
    std::vector<double> smooth(n);
    std::vector<double> tied(n);
    for (double& value : smooth) value = fine(generator);
    for (double& value : tied) value = 0.1 * coarse(generator);
    EXPECT_EQ(hodges_lehmann(smooth), slow_hodges_lehmann(smooth)) << n;
    EXPECT_EQ(hodges_lehmann(tied), slow_hodges_lehmann(tied)) << n;
  }
}

TEST(Estimate, SmallCases) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(hodges_lehmann(std::vector<double>{-0.0}), 0);
  EXPECT_EQ(hodges_lehmann(std::vector<double>{1, 2}), 1.5);
  EXPECT_EQ(mad(std::vector<double>{1, 1, 1, 9}), 0);
  EXPECT_EQ(sum(std::vector<double>{1e16, 1, -1e16}), 1);
}

TEST(Estimate, BoundsAreMirrored) {
  const std::vector<double> d = {0.10, 0.12, 0.08, 0.11, 0.09, 0.13, 0.07, 0.10, 0.11};
  std::vector<double> mirrored = d;
  for (double& value : mirrored) value = -value;
  const Bounds bounds = anytime_bounds(d, 0.02);
  const Bounds other = anytime_bounds(mirrored, 0.02);
  EXPECT_LT(bounds.lower, 0.10);
  EXPECT_GT(bounds.lower, 0);
  EXPECT_GT(bounds.upper, 0.10);
  EXPECT_EQ(bounds.lower, -other.upper);
  EXPECT_EQ(bounds.upper, -other.lower);
}

TEST(Estimate, FourPairsBoundNothing) {
  const Bounds bounds = anytime_bounds(std::vector<double>(4, 0.5), 0.05);
  EXPECT_EQ(bounds.lower, -kInfinity);
  EXPECT_EQ(bounds.upper, kInfinity);
}

TEST(Estimate, SigmaIsClampedAndHasADefault) {
  EXPECT_EQ(sigma_of_same(std::vector<double>(5, 0.2)), 0.05);
  EXPECT_EQ(sigma_of_same(std::vector<double>(6, 0.0)), 0.003);
  EXPECT_EQ(sigma_of_same(std::vector<double>(6, 9.0)), 0.30);
}

TEST(Estimate, FutilityMarginIsTheLargestOfThree) {
  EXPECT_EQ(futility_margin(0.10, 0.02), 0.05);
  EXPECT_EQ(futility_margin(0.01, 0.30), 0.15);
  EXPECT_EQ(futility_margin(0.01, 0.003), 0.01);
}

TEST(Estimate, ShrinkingPullsTowardsZero) {
  const std::vector<double> noisy = {0.3, -0.2, 0.25, 0.02, 0.4, -0.1};
  EXPECT_GT(shrink(noisy), 0);
  EXPECT_LT(shrink(noisy), hodges_lehmann(noisy));
  EXPECT_NEAR(shrink(std::vector<double>(6, 0.1)), 0.1, 1e-9);
}

}  // namespace
}  // namespace amdahl::stats
