// What of a receipt reaches the verdicts: one arm of a pair, as fact_of() reduces it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pairs.h"

namespace amdahl::app {
namespace {

using namespace std::chrono_literals;

model::Receipt receipt() {
  model::Receipt made;
  made.id = "r-1/A";
  made.family = "eval";
  made.ending = model::Ending::kExited;
  made.started = 1'700'000'000s;
  made.wall = 10s;
  made.work = 1;
  return made;
}

model::ArmFact arm_of(const model::Receipt& made) {
  launch::Receipts receipts;
  receipts.a = made;
  receipts.b = receipt();
  return fact_of({}, {}, receipts).a;
}

TEST(Arm, KnowsWhatItsTasksWaitedForAndLeft) {
  model::Receipt made = receipt();
  made.run_delay = 2500ms;
  made.cgroup.throttled = 750ms;
  made.left_behind = 3;
  const model::ArmFact arm = arm_of(made);
  EXPECT_DOUBLE_EQ(arm.run_delay_s, 2.5);
  EXPECT_DOUBLE_EQ(arm.throttled_s, 0.75);
  EXPECT_EQ(arm.left_behind, 3);
  EXPECT_TRUE(arm.phases.empty());
}

TEST(Arm, ChargesEachMomentToTheInnermostPhase) {
  model::Receipt made = receipt();
  made.phases = {{"train", 1s, 8s}, {"save", 3s, 1s}, {"save", 6s, 1s}};
  const std::map<std::string, double> want{{"save", 2}, {"train", 6}};
  EXPECT_EQ(arm_of(made).phases, want);
}

TEST(Arm, KeepsTheLongestOfVeryManyPhases) {
  model::Receipt made = receipt();
  for (int step = 0; step < 100; ++step) {
    made.phases.push_back({fmt::format("step {}", step), step * 50ms, step < 3 ? 50ms : 10ms});
  }
  const auto phases = arm_of(made).phases;
  EXPECT_EQ(phases.size(), 32u);
  for (const char* name : {"step 0", "step 1", "step 2"}) EXPECT_DOUBLE_EQ(phases.at(name), 0.05);
}

}  // namespace
}  // namespace amdahl::app
