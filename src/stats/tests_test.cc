#include "stats/tests.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

using Values = std::vector<double>;

TEST(Tests, BinomialEdges) {
  EXPECT_EQ(binomial_tail(0, 0), 1);
  EXPECT_EQ(binomial_tail(0, 5, 0), 1);
  EXPECT_EQ(binomial_tail(1, 5, 0), 0);
  EXPECT_EQ(binomial_tail(5, 5, 1), 1);
  EXPECT_EQ(binomial_tail(6, 5), 0);
  EXPECT_NEAR(binomial_tail(5, 5), 1.0 / 32, 1e-15);
  EXPECT_EQ(binomial_two_sided_half(0, 0), 1);
  EXPECT_EQ(binomial_two_sided_half(3, 6), 1);
  EXPECT_NEAR(binomial_two_sided_half(10, 10), binomial_two_sided_half(0, 10), 1e-15);
  EXPECT_NEAR(binomial_tail(500, 2000, 0.25), 0.5, 0.02);
}

TEST(Tests, StudentTailEdges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(student_t_tail(kInfinity, 3), 0);
  EXPECT_EQ(student_t_tail(-kInfinity, 3), 1);
  EXPECT_EQ(student_t_tail(0, 3), 0.5);
  EXPECT_NEAR(student_t_tail(1, 1), 0.25, 1e-14);  // Cauchy: 1/2 - atan(1)/pi.
}

TEST(Tests, EqualValuesHaveNoSpread) {
  const Values same(7, 0.1);
  EXPECT_EQ(mean_deviation(same).mean, 0.1);
  EXPECT_EQ(mean_deviation(same).deviation, 0);
  EXPECT_EQ(p_mean_above(same, 0.05), 0);
  EXPECT_EQ(p_mean_above(same, 0.1), 1);
  EXPECT_EQ(p_mean_below(same, 0.2), 0);
}

TEST(Tests, AnIntervalHasStudentsWidth) {
  const std::vector<double> four{1, 2, 3, 4};  // Deviation 1.29099, t 3.18245 at three degrees.
  const MeanInterval found = mean_interval(four);
  EXPECT_DOUBLE_EQ(found.mean, 2.5);
  EXPECT_NEAR(found.upper - found.mean, 3.182446 * 1.290994 / 2, 1e-5);
  EXPECT_DOUBLE_EQ(found.mean - found.lower, found.upper - found.mean);
  EXPECT_NEAR(mean_interval(std::vector<double>{0, 1}, 0.99).upper, 0.5 + 63.65674 / 2, 1e-3);
  EXPECT_DOUBLE_EQ(mean_interval(std::vector<double>{3, 3}).lower, 3);
}

TEST(Tests, EquivalenceNeedsBothSides) {
  const Values x = {0.001, -0.001, 0.0005, -0.0005, 0.0002};
  EXPECT_LT(equivalence(x, -0.005, 0.005).p_above_low, 0.001);
  EXPECT_LT(equivalence(x, -0.005, 0.005).p_below_high, 0.001);
  EXPECT_GT(equivalence(x, 0.001, 0.005).p_above_low, 0.5);
}

}  // namespace
}  // namespace amdahl::stats
