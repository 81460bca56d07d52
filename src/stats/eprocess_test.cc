#include "stats/eprocess.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

std::vector<double> noise(std::size_t count, double scale, unsigned seed) {
  std::mt19937 generator(seed);
  std::student_t_distribution<double> heavy(2);
  std::vector<double> d(count);
  for (double& value : d) value = scale * heavy(generator);
  return d;
}

double folded(const std::vector<double>& d, const Wager& wager) {
  EProcess process(wager);
  for (const double value : d) process.fold(value);
  return process.log_e();
}

// The game is fair whatever the sizes are: the one property that the error rate rests on.
TEST(EProcess, AverageOverAllSignPatternsIsOne) {
  for (const double sigma : {0.003, 0.05, 0.30}) {
    for (std::size_t n = 1; n <= 12; ++n) {
      SCOPED_TRACE(testing::Message() << "sigma " << sigma << ", n " << n);
      const std::vector<double> sizes = noise(n, 0.08, static_cast<unsigned>(n));
      double total = 0;
      for (unsigned pattern = 0; pattern < 1U << n; ++pattern) {
        std::vector<double> d = sizes;
        for (std::size_t i = 0; i < n; ++i) {
          if ((pattern >> i & 1U) != 0) d[i] = -d[i];
        }
        total += std::exp(folded(d, {.sigma = sigma}));
      }
      EXPECT_NEAR(total / static_cast<double>(1U << n), 1, 1e-12);
    }
  }
}

TEST(EProcess, SameBitsInAnyOrder) {
  std::vector<double> d = noise(100, 0.1, 7);
  const Wager wager{.sigma = 0.07, .margin = 0.02, .side = Side::kBelow};
  const double want = folded(d, wager);
  std::mt19937 generator(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(d.begin(), d.end(), generator);
    EXPECT_EQ(folded(d, wager), want);
  }
}

TEST(EProcess, HalvesAddUpToTheWhole) {
  const std::vector<double> d = noise(41, 0.1, 3);
  EProcess whole({.sigma = 0.05});
  EProcess left({.sigma = 0.05});
  EProcess right({.sigma = 0.05});
  for (std::size_t i = 0; i < d.size(); ++i) {
    whole.fold(d[i]);
    (i % 3 == 0 ? left : right).fold(d[i]);
  }
  left.merge(right);
  EXPECT_EQ(left.log_wealths(), whole.log_wealths());
  EXPECT_EQ(left.log_e(), whole.log_e());
}

TEST(EProcess, NothingAndZerosAreNoEvidence) {
  EXPECT_EQ(folded({}, {}), 0);
  EXPECT_EQ(folded({0, 0, -0.0, 0}, {}), 0);
  EXPECT_EQ(log_e({}, {}), 0);
}

TEST(EProcess, AllAtOnceAgreesWithOneByOne) {
  for (const std::size_t n : {1, 5, 40, 64, 65, 200}) {
    const std::vector<double> d = noise(n, 0.05, static_cast<unsigned>(n));
    for (const Side side : {Side::kAbove, Side::kBelow}) {
      const Wager wager{.sigma = 0.05, .margin = 0.03, .side = side};
      EXPECT_NEAR(log_e(d, wager), folded(d, wager), 1e-11) << n;
    }
  }
}

TEST(EProcess, OneWildPairHardlyMovesTheWealth) {
  EXPECT_LT(std::abs(folded({50.0}, {.sigma = 0.05})), 0.1);
  EXPECT_LT(std::abs(folded({-50.0}, {.sigma = 0.05})), 0.1);
}

TEST(EProcess, AClearWinNeedsAboutSixPairs) {
  EXPECT_LT(folded(std::vector<double>(4, 0.10), {.sigma = 0.02}), std::log(20));
  EXPECT_GT(folded(std::vector<double>(7, 0.10), {.sigma = 0.02}), std::log(20));
}

TEST(EProcessDeathTest, RefusesWhatIsNoNumberAndAForeignWager) {
  EProcess process({.sigma = 0.05});
  EXPECT_DEATH(process.fold(std::nan("")), "isfinite");
  EXPECT_DEATH(process.merge(EProcess({.sigma = 0.06})), "wager_ == other.wager_");
}

}  // namespace
}  // namespace amdahl::stats
