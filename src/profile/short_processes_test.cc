#include "profile/short_processes.h"

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

using std::chrono::milliseconds;

model::TaskWaits task(std::int64_t id, std::int64_t parent, std::string name, Nanos born,
                      Nanos died) {
  model::TaskWaits made;
  made.tid = made.process = id;
  made.parent = parent;
  made.name = std::move(name);
  made.born = born;
  made.died = died;
  return made;
}

// A shell of 1 s that starts a program of `life` every 8 ms.
model::BpfSummary shell(int programs, Nanos life) {
  model::BpfSummary summary;
  summary.wall = milliseconds(1000);
  summary.tasks.push_back(task(1, 0, "bash", {}, summary.wall));
  for (int i = 0; i < programs; ++i) {
    const Nanos born = milliseconds(8) * i;
    summary.tasks.push_back(task(2 + i, 1, "basename", born, born + life));
  }
  return summary;
}

TEST(ShortProcesses, TheLineOfAScriptThatNamesThemIsTold) {
  const std::vector<code::Source> scripts = {{"run.sh", "for i; do\n  basename $i\ndone\n"},
                                             {"other.sh", "ls\n"}};
  const auto cause = short_processes(shell(100, milliseconds(5)), scripts);
  ASSERT_TRUE(cause);
  EXPECT_NE(cause->because.find("mostly basename (run.sh:2): "), std::string::npos)
      << cause->because;
}

TEST(ShortProcesses, OneAfterAnotherAreACause) {
  const auto cause = short_processes(shell(100, milliseconds(5)));
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->name, "starting processes");
  EXPECT_EQ(cause->bottleneck, model::Bottleneck::kSerial);
  EXPECT_NEAR(cause->share, 0.5, 1e-9);
  EXPECT_EQ(
      cause->because,
      "bash started 100 short-lived processes, mostly basename: 0.5 s of 1.00 s, 5.00 ms each");
}

TEST(ShortProcesses, TimeInWhichSeveralLiveCountsOnce) {
  const auto cause = short_processes(shell(100, milliseconds(16)));
  ASSERT_TRUE(cause);
  EXPECT_NEAR(cause->share, 0.808, 1e-9);
}

TEST(ShortProcesses, AFewOrLongOnesAreNone) {
  EXPECT_FALSE(short_processes(shell(10, milliseconds(5))));
  EXPECT_FALSE(short_processes(shell(100, milliseconds(60))));
  EXPECT_FALSE(short_processes({}));
}

}  // namespace
}  // namespace amdahl::profile
