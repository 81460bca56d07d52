#include "stats/signed_rank.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

using Values = std::vector<double>;

TEST(SignedRank, AllOnOneSideIsOneSignPattern) {
  EXPECT_DOUBLE_EQ(wilcoxon_greater(Values{1, 2, 3, 4, 5}), 1.0 / 32);
  EXPECT_DOUBLE_EQ(wilcoxon_greater(Values{-1, -2, -3, -4, -5}), 1);
  EXPECT_DOUBLE_EQ(wilcoxon_greater(Values{2, 2, 2, 2, 2}), 1.0 / 32);
  EXPECT_DOUBLE_EQ(wilcoxon_less(Values{1, 2, 3, 4, 5}, 6), 1.0 / 32);
  EXPECT_DOUBLE_EQ(wilcoxon_two_sided(Values{1, 2, 3, 4, 5}), 1.0 / 16);
}

TEST(SignedRank, ZerosSayNothing) {
  EXPECT_EQ(wilcoxon_greater(Values{}), 1);
  EXPECT_EQ(wilcoxon_greater(Values{0, -0.0}), 1);
  EXPECT_EQ(wilcoxon_greater(Values{0, 1, 2, 0}), 0.25);
  EXPECT_EQ(wilcoxon_two_sided(Values{0}), 1);
}

// Under random signs the p-value is exact: P(p <= a) <= a for every a, and tight at its atoms.
TEST(SignedRank, TheTailOverAllSignPatternsIsExact) {
  const Values sizes = {0.1, 0.3, 0.3, 0.7, 0.7, 0.7, 1.1, 2.0};
  Values tails;
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    Values x = sizes;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if ((pattern >> i & 1U) != 0) x[i] = -x[i];
    }
    tails.push_back(wilcoxon_greater(x));
  }
  for (const double level : tails) {
    int reached = 0;
    for (const double tail : tails) reached += tail <= level + 1e-12 ? 1 : 0;
    EXPECT_NEAR(reached / 256.0, level, 1e-12);
  }
}

TEST(SignedRank, ManyValuesStillSumToOne) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  Values x(150);
  for (double& value : x) value = normal(generator);
  // The observed sum is in both tails.
  EXPECT_GT(wilcoxon_greater(x) + wilcoxon_less(x, 0), 1);
  EXPECT_LT(wilcoxon_greater(x) + wilcoxon_less(x, 0), 1.01);
}

}  // namespace
}  // namespace amdahl::stats
