#include "compare/power.h"

#include <cmath>

#include <gtest/gtest.h>

namespace amdahl::compare {
namespace {

// Pairs to E >= 20 that the simulations of docs/design/0002-verification.md took on average.
TEST(Power, AgreesWithWhatWasSimulated) {
  struct Case {
    double noise;
    double effect;
    double simulated;
  };
  constexpr Case kCases[] = {{0.02, 0.05, 7.8},  {0.02, 0.10, 6.2}, {0.02, 0.20, 5.7},
                             {0.05, 0.05, 13.9}, {0.05, 0.10, 7.1}, {0.05, 0.20, 5.5},
                             {0.15, 0.10, 19.6}, {0.15, 0.20, 7.6}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(testing::Message() << "noise " << c.noise << ", effect " << c.effect);
    const auto got = pairs_to_show(c.effect, {c.noise, {.sigma = c.noise}});
    ASSERT_TRUE(got);
    EXPECT_GE(*got, 5) << "five coins are the least that reach 20";
    EXPECT_NEAR(*got, c.simulated, 0.35 * c.simulated);
  }
}

TEST(Power, MorePairsShowSmallerEffectsAndNoiseHidesThem) {
  const Outlook quiet{0.01, {.sigma = 0.01}};
  const Outlook loud{0.05, {.sigma = 0.05}};
  EXPECT_GT(*smallest_shown(10, quiet), *smallest_shown(40, quiet));
  EXPECT_GT(*smallest_shown(10, loud), *smallest_shown(10, quiet));
  EXPECT_TRUE(smallest_shown(5, quiet)) << "the least that five coins can do";
  EXPECT_FALSE(smallest_shown(4, quiet)) << "four coins prove nothing";
  const double smallest = *smallest_shown(12, loud);
  EXPECT_LE(*pairs_to_show(smallest, loud), 12);
  EXPECT_GT(*pairs_to_show(0.97 * smallest, loud), 12);
}

TEST(Power, SaysHowQuietItWouldHaveToBe) {
  const Outlook loud{0.05, {.sigma = 0.05}};
  const double quiet = *noise_to_show(0.02, 12, loud);
  EXPECT_LT(quiet, 0.05);
  EXPECT_LE(*pairs_to_show(0.02, {quiet, {.sigma = quiet}}), 12);
  EXPECT_FALSE(noise_to_show(0.02, 4, loud));
}

TEST(Power, AVerdictIsExpectedWhereTheEffectPoints) {
  const Design design{.sigma = 0.03, .delta = 0.02, .two_sided = true};
  const Outlook outlook{0.03, design};
  Judge near(design);
  Judge far(design);
  for (const double noise : {-0.02, 0.01, 0.02, -0.01, 0.0}) {
    near.fold(0.03 + noise);
    far.fold(-0.08 + noise);
  }
  ASSERT_TRUE(pairs_to_settle(near, outlook));
  ASSERT_TRUE(pairs_to_settle(far, outlook));
  EXPECT_GT(*pairs_to_settle(near, outlook), *pairs_to_settle(far, outlook));
  while (far.answer() == model::Answer::kCannotTell) far.fold(-0.08);
  EXPECT_EQ(pairs_to_settle(far, outlook), 0);
  EXPECT_GE(*pairs_to_settle(Judge(design), outlook), 1);
}

}  // namespace
}  // namespace amdahl::compare
