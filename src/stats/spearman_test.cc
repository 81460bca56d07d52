#include "stats/spearman.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

using Values = std::vector<double>;

TEST(Spearman, SeesOrderAndNothingElse) {
  EXPECT_EQ(spearman(Values{1, 2, 4, 8}, Values{0.1, 0.2, 0.3, 9}), 1);
  EXPECT_EQ(spearman(Values{8, 1, 4, 2}, Values{-9, 0.3, 0.1, 0.2}), -1);
  EXPECT_EQ(spearman(Values{1, 2, 3}, Values{1, 3, 2}), 0.5);  // On the edge of the rule, exactly.
  EXPECT_EQ(spearman(Values{1, 2, 3}, Values{2, 3, 1}), -0.5);
}

TEST(Spearman, TiesShareTheirRank) {
  // Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4.
  EXPECT_NEAR(*spearman(Values{1, 2, 2, 4}, Values{1, 3, 2, 4}), 4.5 / std::sqrt(4.5 * 5), 1e-15);
}

TEST(Spearman, WhatIsConstantHasNone) {
  EXPECT_EQ(spearman(Values{1, 1, 1}, Values{1, 2, 3}), std::nullopt);
  EXPECT_EQ(spearman(Values{1, 2, 3}, Values{5, 5, 5}), std::nullopt);
  EXPECT_EQ(spearman(Values{1}, Values{1}), std::nullopt);
  EXPECT_EQ(spearman(Values{}, Values{}), std::nullopt);
}

TEST(SpearmanDeathTest, RefusesWhatDoesNotPairUp) {
  EXPECT_DEATH(spearman(Values{1, 2}, Values{1}), "x.size\\(\\) == y.size\\(\\)");
}

}  // namespace
}  // namespace amdahl::stats
