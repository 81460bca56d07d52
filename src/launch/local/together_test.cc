#include "launch/local/together.h"

#include <ctime>

#include <gtest/gtest.h>

namespace amdahl::launch::local {
namespace {

bool nap(long nanoseconds) {
  const timespec time{0, nanoseconds};
  ::nanosleep(&time, nullptr);
  return true;
}

// Tasks that end while they are being counted must not leave us waiting for nobody.
TEST(TogetherTest, TasksThatEndAtAnyMomentAreNotWaitedForTwice) {
  for (int round = 0; round < 500; ++round) {
    const auto both = run_together({{{}, [] { return true; }},
                                    {{}, [round] { return nap(1000L * (round % 300)); }}});
    ASSERT_TRUE(both) << both.error().text;
    ASSERT_EQ(both->well, (std::vector<bool>{true, true}));
  }
}

TEST(TogetherTest, SaysWhoFailed) {
  const auto both = run_together({{{}, [] { return false; }}, {{}, [] { return true; }}});
  ASSERT_TRUE(both) << both.error().text;
  EXPECT_EQ(both->well, (std::vector<bool>{false, true}));
  EXPECT_FALSE(both->interrupted);
}

}  // namespace
}  // namespace amdahl::launch::local
