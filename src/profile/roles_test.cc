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

// What a child's end sets off is sometimes done by a thread of the kernel: then no child woke it.
TEST(Roles, WhoWaitsOnceAndForLongIsALauncherWhoeverWokeIt) {
  model::BpfSummary summary = spawned(1);
  summary.wakes = {{0, 10, 2, milliseconds(7900)}};
  model::WaitSite site;
  site.id = 1;
  site.tid = 10;
  site.reason = model::Wait::kPoll;
  site.count = 2;
  site.time = milliseconds(7900);
  site.longest = milliseconds(7000);
  summary.sites = {site};
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"launcher", "helper", "step", "step"}));
  summary.sites.front().longest = milliseconds(300);
  EXPECT_EQ(names(summary).front(), "step");
}

// Of forked children only who looked from inside knows that they are no loaders.
TEST(Roles, WhoForkedTheProcessThatRunsStepsAndWaitsIsALauncher) {
  model::BpfSummary summary = spawned(1);
  for (model::TaskWaits& task : summary.tasks) task.executed = task.tid == 10;
  EXPECT_EQ(names(summary).front(), "step");
  summary.stepping = 21;
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"launcher", "helper", "step", "step"}));
  // One that works beside it is none.
  summary.tasks[0].running = milliseconds(8000);
  waits_block(summary.tasks[0], model::Wait::kPoll, 2000, 2);
  EXPECT_EQ(names(summary).front(), "step");
  // And one that runs the steps itself is fed.
  summary = spawned(1);
  summary.stepping = 10;
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"step", "helper", "loader", "loader"}));
}

// `python` may be a script of a shell that asks others where Python is, and becomes it then.
TEST(Roles, WhatEndedBeforeTheProgramBeganIsNoLoader) {
  model::BpfSummary summary = spawned(200);
  summary.tasks[2].executed = summary.tasks[3].executed = false;
  summary.tasks[2].died = milliseconds(2300);
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"step", "helper", "loader", "loader"}));
  summary.tasks[0].executed_at = milliseconds(2400);
  EXPECT_EQ(names(summary),
            (std::vector<std::string_view>{"step", "helper", "launcher", "loader"}));
}

TEST(Roles, TheThreadThatWasSeenToRunStepsDoes) {
  model::BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto leader = waits_task(10, 10, 1, "python3");
  leader.running = milliseconds(2500);
  waits_block(leader, model::Wait::kFutex, 7500, 100);
  auto model = waits_task(11, 10, 1, "python3");
  model.running = milliseconds(2000);
  waits_block(model, model::Wait::kFutex, 4000, 100);
  auto pool = waits_task(12, 10, 1, "python3");
  pool.running = milliseconds(3000);
  waits_block(pool, model::Wait::kFutex, 3000, 900);
  summary.tasks = {leader, model, pool};
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"step", "pool", "pool"}));
  summary.stepping = 10;
  summary.stepping_thread = 11;
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"helper", "step", "pool"}));
  summary.tasks[1].died = milliseconds(1000);
  EXPECT_EQ(names(summary).front(), "step") << "it was one of many";
}

// A pool is handed its work by the step thread, which wakes it; who makes input is not.
TEST(Roles, AThreadThatWakesTheStepThreadAndIsNotWokenByItFeedsIt) {
  model::BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto consumer = waits_task(10, 10, 1, "job");
  consumer.running = milliseconds(1500);
  waits_block(consumer, model::Wait::kFutex, 8000, 5000);
  auto producer = waits_task(11, 10, 1, "job");
  producer.running = milliseconds(9000);
  summary.tasks = {consumer, producer};
  summary.wakes = {{11, 10, 5000, milliseconds(8000)}};
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"step", "loader"}));
  // Handed over and given back.
  summary.wakes.push_back({10, 11, 4000, milliseconds(500)});
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"step", "pool"}));
  // One that spins need not be woken; the step thread hardly waits for it.
  summary.wakes = {{11, 10, 5000, milliseconds(800)}};
  EXPECT_EQ(names(summary), (std::vector<std::string_view>{"step", "pool"}));
}

TEST(Roles, WhoIsWokenByItsChildrenAgainAndAgainIsFedByThem) {
  EXPECT_EQ(names(spawned(200)),
            (std::vector<std::string_view>{"step", "helper", "loader", "loader"}));
}

}  // namespace
}  // namespace amdahl::profile
