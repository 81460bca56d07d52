#include "stats/local_level.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

struct Series {
  std::vector<double> y;
  std::vector<std::vector<double>> x;
};

// A step after the first half; `drift` is the step of the level, `noise` is 0.05.
Series series_of(unsigned seed, std::size_t size, double effect, double drift) {
  std::mt19937_64 luck(seed);
  std::normal_distribution<double> normal;
  Series series;
  double level = 3;
  for (std::size_t t = 0; t < size; ++t) {
    level += drift * normal(luck);
    const double with = t >= size / 2 ? 1 : 0;
    series.y.push_back(level + with * effect + 0.05 * normal(luck));
    series.x.push_back({with});
  }
  return series;
}

TEST(LocalLevel, WithoutNoiseAndDriftTheStepIsExact) {
  Series series = series_of(1, 40, 0, 0);
  for (std::size_t t = 0; t < 40; ++t) {
    series.y[t] = (t % 2 == 0 ? 0.001 : -0.001) + (t >= 20 ? -0.25 : 0);
  }
  const auto effects = local_level_effects(series.y, series.x);
  ASSERT_TRUE(effects);
  EXPECT_NEAR(effects->means[0], -0.25, 1e-3);
  EXPECT_LT(sum_of(*effects, {1}).deviation, 1e-3);
}

// 95 % intervals, with and without drift.
TEST(LocalLevel, IntervalsCoverTheTruth) {
  for (const double drift : {0.0, 0.005, 0.02}) {
    int covered = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
      const Series series = series_of(seed, 120, 0.1, drift);
      const auto effects = local_level_effects(series.y, series.x);
      ASSERT_TRUE(effects);
      const EffectSum sum = sum_of(*effects, {1});
      covered += std::abs(sum.mean - 0.1) <= 1.96 * sum.deviation ? 1 : 0;
    }
    EXPECT_GE(covered, 368) << "drift " << drift;  // 92 %.
  }
}

TEST(LocalLevel, EffectsThatAlwaysComeTogetherAreKnownByTheirSum) {
  Series series = series_of(7, 120, 0.1, 0);
  for (std::vector<double>& row : series.x) row.push_back(row.front());
  const auto effects = local_level_effects(series.y, series.x);
  ASSERT_TRUE(effects);
  EXPECT_GT(sum_of(*effects, {1, 0}).deviation, 1);
  const EffectSum both = sum_of(*effects, {1, 1});
  EXPECT_NEAR(both.mean, 0.1, 0.05);
  EXPECT_LT(both.deviation, 0.03);
}

TEST(LocalLevel, TooLittleIsNoAnswer) {
  const std::vector<std::vector<double>> x = {{0}, {0}, {1}, {1}};
  EXPECT_FALSE(local_level_effects(std::vector<double>{1, 2, 3, 4}, x));
  EXPECT_FALSE(local_level_effects(std::vector<double>{}, {}));
  const std::vector<std::vector<double>> more = {{0}, {0}, {0}, {1}, {1}, {1}};
  EXPECT_FALSE(local_level_effects(std::vector<double>{2, 2, 2, 2, 2, 2}, more));
}

TEST(LocalLevel, AStragglerIsMovedToItsNeighbours) {
  std::vector<double> y = {1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0, 9.0, 1.1, 0.9, 1.0, 1.1};
  const std::vector<double> moved = winsorised(y, 3);
  EXPECT_LT(moved[7], 1.8);
  EXPECT_EQ(moved[2], 0.9);
  EXPECT_EQ(winsorised(std::vector<double>{1, 9}, 3), (std::vector<double>{1, 9}));
}

}  // namespace
}  // namespace amdahl::stats
