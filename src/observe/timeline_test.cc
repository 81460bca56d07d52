#include "observe/timeline.h"

#include <cmath>

#include <gtest/gtest.h>

#include "observe/watcher.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

TEST(TimelineTest, UnevenStretchesBecomeEvenIntervals) {
  const std::vector<BusySegment> segments = {{0s, 1s, 1.0}, {1s, 3s, 0.5}, {5s, 7s, 0.25}};
  const std::vector<float> series = on_grid(segments, 2s, 7s);
  ASSERT_EQ(series.size(), 4u);
  EXPECT_FLOAT_EQ(series[0], 0.75F);
  EXPECT_FLOAT_EQ(series[1], 0.5F);
  EXPECT_FLOAT_EQ(series[2], 0.25F);
  EXPECT_FLOAT_EQ(series[3], 0.25F);
  EXPECT_TRUE(std::isnan(on_grid(segments, 1s, 7s)[3])) << "no one looked from 3 s to 4 s";
  EXPECT_EQ(on_grid({}, 1s, 0s).size(), 1u);
}

TEST(TimelineTest, ALongRunHasNoMoreThanTwoThousandIntervals) {
  EXPECT_EQ(interval_for(10s, 100ms), 100ms);
  EXPECT_EQ(interval_for(1000s, 100ms), 800ms);
  const Nanos interval = interval_for(24h * 365, 100ms);
  EXPECT_LE(24h * 365 / interval, 2000);
}

TEST(TimelineTest, MergingKeepsTheMean) {
  Timeline timeline;
  for (int i = 0; i < 100'000; ++i) timeline.add({i * 1s, (i + 1) * 1s, i % 2 ? 1.0 : 0.0});
  EXPECT_LT(timeline.segments().size(), 40'000u);
  EXPECT_FLOAT_EQ(on_grid(timeline.segments(), 100'000s, 100'000s)[0], 0.5F);
}

TEST(PaceTest, SlowsDownWhenItCostsTooMuchAndRecovers) {
  SamplingInterval pace(100ms);
  pace.note(500ms, 400ms);
  EXPECT_EQ(pace.interval(), 100ms) << "half a second is too short to tell";
  pace.note(1s, 6ms);
  EXPECT_EQ(pace.interval(), 200ms);
  for (int i = 2; i < 10; ++i) pace.note(i * 1s, i * 6ms);
  EXPECT_EQ(pace.interval(), 1s);
  for (int i = 10; i < 20; ++i) pace.note(i * 1s, 54ms);
  EXPECT_EQ(pace.interval(), 100ms);
}

}  // namespace
}  // namespace amdahl::observe
