#include "stats/campaign.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::stats {
namespace {

TEST(Campaign, TheLevelFallsAsTheCampaignPromotes) {
  EXPECT_NEAR(std::exp(promotion_log_threshold({200, 0.10, 0})), 2000, 1e-9);
  EXPECT_NEAR(std::exp(promotion_log_threshold({200, 0.10, 9})), 200, 1e-9);
  EXPECT_NEAR(std::exp(promotion_log_threshold({200, 0.10, 19})), 100, 1e-9);
}

TEST(Campaign, TwoTogetherPassWhereOneAloneDoesNot) {
  const std::vector<Candidate> one = {{"a", std::log(1000.5)}};
  const std::vector<Candidate> two = {{"b", std::log(1000.5)}, {"a", std::log(1000.5)}};
  EXPECT_EQ(promotable(one, {200, 0.10, 0}), std::vector<std::string>{});
  EXPECT_EQ(promotable(two, {200, 0.10, 0}), (std::vector<std::string>{"a", "b"}));
}

TEST(Campaign, SharesOfAnEndlessStreamSumToLessThanOne) {
  double total = 0;
  for (int t = 1; t <= 100000; ++t) total += gamma_log(t);
  EXPECT_LT(total, 1);
  EXPECT_GT(total, 0.9);
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
