#include "stats/rank_sum.h"

#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

// Every way to choose x's members, counted by hand.
double by_force(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> all = x;
  all.insert(all.end(), y.begin(), y.end());
  const auto doubled_rank = [&](double value) {
    std::size_t twice = 1;
    for (const double other : all) twice += other < value ? 2 : other == value ? 1 : 0;
    return twice;
  };
  std::size_t observed = 0;
  for (const double value : x) observed += doubled_rank(value);
  std::size_t ways = 0;
  std::size_t low = 0;
  for (unsigned chosen = 0; chosen < 1U << all.size(); ++chosen) {
    if (static_cast<std::size_t>(__builtin_popcount(chosen)) != x.size()) continue;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1U) != 0) sum += doubled_rank(all[i]);
    }
    ++ways;
    low += sum <= observed ? 1 : 0;
  }
  return static_cast<double>(low) / static_cast<double>(ways);
}

TEST(RankSum, CountsTheWaysToBeAsLow) {
  const std::vector<double> low{0.1, 0.0, -0.2};
  const std::vector<double> high{1.0, 1.1, 0.9, 1.3, 1.2};
  EXPECT_DOUBLE_EQ(rank_sum_less(low, high), 1.0 / 56);
  EXPECT_DOUBLE_EQ(rank_sum_less(high, low), 1);
}

TEST(RankSum, IsWhatBruteForceCounts) {
  const std::vector<std::vector<double>> samples{
      {3}, {1, 2}, {2, 2, 2}, {0, 5, 1, 4}, {-1, 2, 2, 7, 3}, {4, 4, 1, 0, -2, 6}};
  for (const auto& x : samples) {
    for (const auto& y : samples) EXPECT_NEAR(rank_sum_less(x, y), by_force(x, y), 1e-12);
  }
}

TEST(RankSum, SaysNothingOfNothing) {
  const std::vector<double> some{1, 2};
  EXPECT_EQ(rank_sum_less({}, some), 1);
  EXPECT_EQ(rank_sum_less(some, {}), 1);
}

TEST(RankSum, HoldsWithMany) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 75; ++i) {
    x.push_back(2 * i);
    y.push_back(2 * i + 1);
  }
  const double p = rank_sum_less(x, y);
  EXPECT_GT(p, 0.3);  // The normal approximation gives 0.444.
  EXPECT_LT(p, 0.5);
}

}  // namespace
}  // namespace amdahl::stats
