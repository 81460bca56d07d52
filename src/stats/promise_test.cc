#include "stats/promise.h"

#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

const Outlook kUsual{.sigma = 0.05, .claim = 0.10};

TEST(Promise, RisesWithPairsLikeTheClaimAndFallsWithPairsLikeNothing) {
  const double before = promise({}, kUsual);
  EXPECT_GT(promise(std::vector<double>(3, 0.10), kUsual), 2 * before);
  EXPECT_LT(promise(std::vector<double>(3, 0.0), kUsual), before / 2);
  EXPECT_LT(promise(std::vector<double>(6, 0.0), kUsual), before / 10);
}

TEST(Promise, OneWildPairAmongGoodOnesEndsNothing) {
  const std::vector<double> good(4, 0.10);
  std::vector<double> wild = good;
  wild.push_back(-0.60);
  EXPECT_GT(promise(wild, kUsual), promise(good, kUsual) / 2);
}

TEST(Promise, IsSmallWhereNoiseHidesTheClaimAndWhereTheClaimIsSmall) {
  Outlook noisy = kUsual;
  noisy.sigma = 0.20;
  EXPECT_LT(promise({}, noisy), promise({}, kUsual) / 2);
  Outlook small = kUsual;
  small.claim = kSmallestGain / 4;
  small.sigma = small.claim / 2;  // As well seen as the other.
  EXPECT_LT(promise({}, small), promise({}, kUsual) / 2);
  Outlook none = kUsual;
  none.claim = 0;
  EXPECT_EQ(promise({}, none), 0);
}

// A/A pairs may vary less than pairs of a variant do: a few that scatter are no reason to give up.
TEST(Promise, DoesNotTrustTheNoiseOfAAPairsToTheLast) {
  Outlook calm = kUsual;
  calm.sigma = 0.01;
  EXPECT_GT(promise(std::vector<double>{0.01, 0.09, 0.03}, calm), promise({}, calm) / 4);
}

TEST(Promise, RisesWhenNoiseHasFallen) {
  Outlook noisy = kUsual;
  noisy.sigma = 0.20;
  Outlook fallen = noisy;
  fallen.sigma_ahead = 0.02;
  EXPECT_GT(promise({}, fallen), 2 * promise({}, noisy));
}

TEST(Promise, RisesWhenTheLevelFalls) {
  Outlook late = kUsual;
  late.log_level = 1;
  EXPECT_GT(promise({}, late), promise({}, kUsual));
}

// The bets lose more to pairs that are far off than so small an effect can win.
TEST(Promise, ExpectsLittleOfEffectsThatTheBetsCanHardlyWin) {
  const double small = promise({}, {.sigma = 0.2, .claim = 0.04});
  const double plain = promise({}, {.sigma = 0.04, .claim = 0.04});
  EXPECT_GT(small, 0);
  EXPECT_LT(small, plain / 9) << "0.15 of it without that loss";
}

}  // namespace
}  // namespace amdahl::stats
