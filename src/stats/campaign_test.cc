#include "stats/campaign.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

TEST(Campaign, TheLevelFallsAsTheCampaignPromotes) {
  EXPECT_NEAR(std::exp(promotion_log_threshold({200, 0.10, 0})), 2000, 1e-9);
  EXPECT_NEAR(std::exp(promotion_log_threshold({200, 0.10, 9})), 200, 1e-9);
  EXPECT_NEAR(std::exp(promotion_log_threshold({200, 0.10, 19})), 100, 1e-9);
}

// E-values that are 0 but for a chance of 1/v to be v: fair, and as dangerous as fair ones can be.
struct Gamble {
  double weight = 0;
  double win = 0;
};

// The chance that anything of these is promoted, which is the false share when all are null. Exact:
// goes through all ways in which the gambles can end.
double chance_of_any(const std::vector<Gamble>& gambles, const Campaign& campaign) {
  double chance = 0;
  for (unsigned won = 1; won < 1U << gambles.size(); ++won) {
    double weight_of_case = 1;
    bool promoted = false;
    for (std::size_t i = 0; i < gambles.size(); ++i) {
      const Gamble& gamble = gambles[i];
      const bool wins = (won >> i & 1U) != 0;
      weight_of_case *= wins ? 1 / gamble.win : 1 - 1 / gamble.win;
      const double level = promotion_log_threshold(campaign, gamble.weight);
      promoted |= wins && std::log(gamble.win) >= level;
    }
    if (promoted) chance += weight_of_case;
  }
  return chance;
}

TEST(Campaign, OfNullsNoMoreIsPromotedThanAlphaWhateverTheyBet) {
  constexpr int kNulls = 12;
  constexpr double kAlpha = 0.10;
  const Campaign campaign{kNulls, kAlpha, 0};
  std::vector<std::vector<double>> shares = {std::vector<double>(kNulls, 0.0), {}, {}};
  for (int i = 1; i <= kNulls; ++i) {
    shares[1].push_back(2.0 * i / (kNulls * (kNulls + 1)));
    shares[2].push_back(gamma_log(i));
  }
  for (const std::vector<double>& weights : shares) {
    SCOPED_TRACE(testing::Message() << "first weight " << weights[0]);
    std::vector<Gamble> gambles;
    for (const double weight : weights) {
      const double share = weight > 0 ? weight : 1.0 / kNulls;
      gambles.push_back({weight, (1 + 1e-9) / (share * kAlpha)});
    }
    const double chance = chance_of_any(gambles, campaign);
    EXPECT_LE(chance, kAlpha);
    EXPECT_GT(chance, weights[0] == gamma_log(1) ? 0.06 : 0.09);  // The bound is used up.
  }
}

TEST(Campaign, AWeightLowersTheLevelByAsMuch) {
  const Campaign campaign{200, 0.10, 4};
  EXPECT_NEAR(promotion_log_threshold(campaign, 1.0 / 200), promotion_log_threshold(campaign),
              1e-14);
  EXPECT_NEAR(std::exp(promotion_log_threshold(campaign, 0.05)), 1 / (0.05 * 0.10 * 5), 1e-9);
}

TEST(Campaign, WeightsAreSpent) {
  EXPECT_EQ(weight_left({}), 1);
  EXPECT_NEAR(weight_left(std::vector<double>{0.25, 0.5}), 0.25, 1e-15);
  EXPECT_EQ(weight_left(std::vector<double>(200, 0.005)), 0);
  EXPECT_EQ(weight_left(std::vector<double>{0.9, 0.9}), 0);
}

TEST(Campaign, SharesOfAnEndlessStreamSumToLessThanOne) {
  double total = 0;
  for (int t = 1; t <= 100000; ++t) total += gamma_log(t);
  EXPECT_NEAR(total, 1 - 1 / std::log2(100002.0), 1e-12);  // A telescope: 1 in the limit.
  EXPECT_GT(gamma_log(2147483646), 0);
}

// Test t of an endless stream, with D promoted before: 1/(gamma_t alpha (D+1)).
TEST(Campaign, AnEndlessStreamAsksForMoreAsItGoesOn) {
  const auto level = [](int t, int promoted) {
    return std::exp(promotion_log_threshold({1, 0.10, promoted}, gamma_log(t)));
  };
  EXPECT_NEAR(level(1, 0), 10 / (1 - 1 / std::log2(3.0)), 1e-9);
  EXPECT_NEAR(level(1, 0), 27.1, 0.05);
  EXPECT_NEAR(level(10, 0), 10 / (1 / std::log2(11.0) - 1 / std::log2(12.0)), 1e-9);
  EXPECT_NEAR(level(10, 0), 988, 0.5);
  EXPECT_NEAR(level(10, 9), level(10, 0) / 10, 1e-9);
  for (int t = 1; t < 1000; ++t) EXPECT_LT(level(t, 0), level(t + 1, 0)) << t;
}

TEST(Campaign, TheIndexPrefersWhatIsNearlyProvenAndWorthMore) {
  const Prospect fresh{.claim = 0.10, .volume = 1000, .cost_per_pair = 0.5};
  Prospect strong = fresh;
  strong.log_e = 2;
  strong.pairs = 4;
  strong.effect = 0.10;
  Prospect dud = strong;
  dud.log_e = -2;
  dud.effect = -0.01;
  EXPECT_GT(budget_index(strong), budget_index(fresh));
  EXPECT_LT(budget_index(dud), budget_index(fresh));
  EXPECT_EQ(pairs_to_win(5, 10, 3), 1);
}

}  // namespace
}  // namespace amdahl::stats
