#include "profile/late_rank.h"

#include <gtest/gtest.h>

#include "profile/waits_testing.h"

namespace amdahl::profile {
namespace {

using model::PythonFrame;
using std::chrono::seconds;

const PythonFrame kReduce = {"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py",
                             1541, "all_reduce"};

model::WaitSite waited(std::int64_t tid, Nanos time, std::vector<PythonFrame> python) {
  model::WaitSite site;
  site.tid = tid;
  site.reason = model::Wait::kFutex;
  site.time = time;
  site.python = std::move(python);
  return site;
}

// Two ranks, of which the second is waited for 4 of 10 s.
model::BpfSummary two_waiting_ranks() {
  model::BpfSummary summary;
  summary.wall = seconds(10);
  auto shell = waits_task(10, 10, 1, "sh");
  waits_block(shell, model::Wait::kChild, 9990, 1);
  auto first = waits_task(11, 11, 10, "python3");
  first.running = seconds(6);
  waits_block(first, model::Wait::kFutex, 4000, 100);
  auto second = waits_task(12, 12, 10, "python3");
  second.running = seconds(6);
  waits_block(second, model::Wait::kSleep, 4000, 100);
  summary.tasks = {shell, first, second};
  summary.sites = {waited(11, seconds(4), {kReduce, {"/jobs/train.py", 13, "work"}})};
  return summary;
}

TEST(LateRank, WhereItSleepsIsTold) {
  model::BpfSummary summary = two_waiting_ranks();
  summary.sites.push_back(waited(12, seconds(4), {{"/jobs/train.py", 20, "work"}}));
  const auto late = late_line(summary);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->line.line, 20);
  EXPECT_NEAR(late->seconds, 4, 1e-9);
}

TEST(LateRank, WhereItComputesMoreThanTheOthersIsTold) {
  model::BpfSummary summary = two_waiting_ranks();
  summary.tasks[2].running = seconds(10);
  const auto ran = [&](std::int64_t tid, int line, std::int64_t samples) {
    summary.running.push_back({tid, samples, {}, {{"/jobs/train.py", line, "work"}}});
  };
  ran(11, 12, 60);
  ran(12, 12, 60);
  ran(12, 19, 40);
  const auto late = late_line(summary);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->line.line, 19) << "both are in line 12";
  EXPECT_NEAR(late->seconds, 4, 1e-9);
}

TEST(LateRank, NothingIsToldOfOneRankOrWithoutALine) {
  EXPECT_FALSE(late_line(two_waiting_ranks()));
  EXPECT_FALSE(late_line(sample_waits()));
  EXPECT_FALSE(late_line({}));
}

}  // namespace
}  // namespace amdahl::profile
