#include "stats/rate.h"

#include <cmath>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

double binomial(int n, int k, double p) {
  const double ways =
      std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1));
  return ways * std::pow(p, k) * std::pow(1 - p, n - k);
}

double mean_e(int tries, double chance, double usual) {
  double mean = 0;
  for (int k = 0; k <= tries; ++k) {
    mean += binomial(tries, k, chance) * std::exp(log_e_rate(k, tries, usual));
  }
  return mean;
}

// The identity that makes it a fair game, and a losing one below the usual rate.
TEST(Rate, OnAverageNoOneWinsWhereNothingChanged) {
  for (const double usual : {0.001, 0.04, 0.3, 0.9}) {
    EXPECT_NEAR(mean_e(12, usual, usual), 1, 1e-12) << usual;
    EXPECT_LT(mean_e(12, usual / 2, usual), 1) << usual;
    EXPECT_GT(mean_e(12, (1 + usual) / 2, usual), 1) << usual;
  }
}

TEST(Rate, GrowsWithFailuresAndFallsWithSuccesses) {
  EXPECT_EQ(log_e_rate(0, 0, 0.04), 0);
  EXPECT_LT(log_e_rate(0, 50, 0.04), 0);
  EXPECT_GT(log_e_rate(4, 50, 0.04), log_e_rate(3, 50, 0.04));
  EXPECT_LT(log_e_rate(4, 60, 0.04), log_e_rate(4, 50, 0.04));
  EXPECT_TRUE(std::isfinite(log_e_rate(100'000, 100'000, 1e-6)));
}

TEST(Rate, IsAtMostWhatTheRunsLeavePossible) {
  EXPECT_NEAR(rate_at_most(0, 0), 0.9, 1e-12);
  EXPECT_NEAR(rate_at_most(0, 9), 1 - std::pow(0.1, 0.1), 1e-12);
  EXPECT_NEAR(rate_at_most(4, 105), 0.0741, 5e-4);
  EXPECT_LT(rate_at_most(40, 1050), rate_at_most(4, 105));
}

// One value by hand: (2^3/1.04^12 + 4^3/1.12^12 + 8^3/1.28^12 + 16^3/1.6^12) / 4.
TEST(Rate, IsTheMeanOfFourLikelihoodRatios) {
  const double want = (8 / std::pow(1.04, 12) + 64 / std::pow(1.12, 12) + 512 / std::pow(1.28, 12) +
                       4096 / std::pow(1.6, 12)) /
                      4;
  EXPECT_NEAR(std::exp(log_e_rate(3, 12, 0.04)), want, 1e-12);
}

}  // namespace
}  // namespace amdahl::stats
