#include "fleet/clocks.h"

#include <gtest/gtest.h>

namespace amdahl::fleet {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Nanos kNow = seconds{1'700'000'000};

SampleRun run(Nanos first, std::uint64_t samples, bool has_job = false) {
  return {first, first + hours(1), samples, has_job};
}

TEST(Clocks, FarSamplesAreOfClocksThatWereNotSet) {
  const SampleRun most = run(kNow - hours(48), 1000);
  EXPECT_FALSE(true_times({most}, kNow));
  EXPECT_FALSE(true_times({most, run(kNow - hours(24), 3)}, kNow)) << "near the others";
  const auto unset = true_times({run(seconds{60}, 500), most}, kNow);
  ASSERT_TRUE(unset) << "1970, however many";
  EXPECT_EQ(unset->far, 500U);
  EXPECT_FALSE(unset->holds(seconds{60}));
  EXPECT_TRUE(unset->holds(kNow - hours(48)));
  const auto to_come = true_times({most, run(kNow + hours(24 * 400), 500)}, kNow);
  ASSERT_TRUE(to_come);
  EXPECT_EQ(to_come->to, kNow - hours(47) + Nanos{1});
  EXPECT_TRUE(true_times({run(kNow - hours(24 * 400), 5), most}, kNow)) << "a few, long ago";
  EXPECT_FALSE(true_times({run(kNow - hours(24 * 400), 500), most}, kNow)) << "many, long ago";
  EXPECT_FALSE(true_times({run(kNow - hours(24 * 400), 5, true), most}, kNow)) << "a job then";
}

TEST(Clocks, SamplesJoinTheRunThatTheyAreNear) {
  std::vector<SampleRun> runs;
  for (const int hour : {0, 1, 100, 101, 50}) add_sample(runs, kNow + hours(hour), hours(10));
  EXPECT_EQ(runs.size(), 3U);
  for (const int hour : {8, 16, 24, 32, 40}) add_sample(runs, kNow + hours(hour), hours(10));
  const auto all = joined(runs, hours(10));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].samples, 8U);
  EXPECT_EQ(all[0].last, kNow + hours(50));
}

}  // namespace
}  // namespace amdahl::fleet
