#include "profile/roles.h"

#include <gtest/gtest.h>

#include "profile/waits_testing.h"

namespace amdahl::profile {
namespace {

using std::chrono::milliseconds;

// A parent that imports for 2 s, starts two programs and a tracker, and polls a file of each.
model::BpfSummary spawned(std::int64_t wakes) {
  model::BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto parent = waits_task(10, 10, 1, "python3");
  parent.running = milliseconds(2000);
  waits_block(parent, model::Wait::kPoll, 7900, 2);
  auto tracker = waits_task(11, 11, 10, "python3");
  waits_block(tracker, model::Wait::kPipe, 7900, 1);
  auto first = waits_task(20, 20, 10, "python3");
  first.running = milliseconds(4000);
  auto second = waits_task(21, 21, 10, "python3");
  second.running = milliseconds(3000);
  waits_block(second, model::Wait::kSleep, 3000, 40);
  for (auto* child : {&tracker, &first, &second}) child->born = milliseconds(2000);
  summary.tasks = {parent, tracker, first, second};
  summary.wakes = {{20, 10, wakes, milliseconds(4000)}, {21, 10, wakes, milliseconds(3900)}};
  return summary;
}

std::vector<std::string_view> names(const model::BpfSummary& summary) {
  std::vector<std::string_view> found;
  for (const Role role : roles_of(summary)) found.push_back(name(role));
  return found;
}

TEST(Roles, WhoWaitsForTheEndOfItsRanksIsTheirLauncher) {
  EXPECT_EQ(names(spawned(1)),
            (std::vector<std::string_view>{"launcher", "helper", "step", "step"}));
}

TEST(Roles, WhoIsWokenByItsChildrenAgainAndAgainIsFedByThem) {
  EXPECT_EQ(names(spawned(200)),
            (std::vector<std::string_view>{"step", "helper", "loader", "loader"}));
}

}  // namespace
}  // namespace amdahl::profile
