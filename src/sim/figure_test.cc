#include "sim/figure.h"

#include <algorithm>
#include <atomic>

#include <gtest/gtest.h>

#include "sim/work.h"

namespace amdahl::sim {
namespace {

TEST(Figure, KnowsHowFarChanceMayHaveMovedIt) {
  const Figure share = share_of(20, 100);
  EXPECT_DOUBLE_EQ(share.value, 0.2);
  EXPECT_DOUBLE_EQ(share.error, 0.04);
  const double values[] = {1, 2, 3, 4};
  const Figure mean = mean_of(values);
  EXPECT_DOUBLE_EQ(mean.value, 2.5);
  EXPECT_NEAR(mean.error, 0.6455, 1e-4) << "the deviation, 1.291, by the root of 4";
  const double above[] = {1, 0, 2};
  const double below[] = {10, 5, 15};
  EXPECT_DOUBLE_EQ(ratio_of(above, below).value, 0.1);
  EXPECT_NEAR(ratio_of(above, below).error, 0.028868, 1e-6);
  EXPECT_EQ(ratio_of({}, {}).value, 0);
}

TEST(Figure, ShowsItsErrorIfItHasOne) {
  EXPECT_EQ(shown({0.0716, 0.0071}, 3).text, "0.072 ±0.007");
  EXPECT_EQ(shown({0, 0}, 3).text, "0.000");
  EXPECT_EQ(plain(0.078, 2).text, "0.08");
}

TEST(ForAll, DoesEachUnitOnceAndStopsWhenTold) {
  for (const int threads : {1, 3}) {
    std::vector<std::atomic<int>> times(50);
    const auto done =
        for_all(50, {threads, nullptr}, [&](int i) { ++times[static_cast<std::size_t>(i)]; });
    for (const auto& time : times) EXPECT_EQ(time, 1);
    EXPECT_EQ(std::count(done.begin(), done.end(), true), 50);
  }
  const auto done = for_all(50, {1, [](double share) { return share < 0.2; }}, [](int) {});
  EXPECT_EQ(std::count(done.begin(), done.end(), true), 10);
}

}  // namespace
}  // namespace amdahl::sim
