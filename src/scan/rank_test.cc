#include "scan/rank.h"

#include <chrono>

#include <gtest/gtest.h>

namespace amdahl::scan {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

model::Usage job(std::string id, std::string family, float utilisation, Nanos start = {},
                 Nanos wall = seconds(10)) {
  model::Usage result;
  result.job = std::move(id);
  result.family = std::move(family);
  result.start = start;
  result.end = start + wall;
  result.utilisation = {.interval = wall, .metric = "CPU slot", .accelerators = {{utilisation}}};
  return result;
}

std::vector<std::string> names(const std::vector<FamilyWaste>& ranked) {
  std::vector<std::string> result;
  for (const FamilyWaste& waste : ranked) result.push_back(waste.family);
  return result;
}

TEST(Rank, MoreWasteComesFirstAndTheNameBreaksTies) {
  const std::vector<model::Usage> jobs = {job("1", "tuned", 1), job("2", "half", 0.5F),
                                          job("3", "idle-b", 0), job("4", "idle-a", 0)};
  EXPECT_EQ(names(rank(jobs, {})), (std::vector<std::string>{"idle-a", "idle-b", "half", "tuned"}));
}

TEST(Rank, MemoryTellsWhatCanBeRecovered) {
  const std::vector<model::Usage> jobs = {job("1", "a", 0), job("2", "b", 0)};
  // Of b's waste only a tenth has a known cause, and its levers failed ten times.
  const auto ranked = rank(jobs, {{"b", {.tried = 10, .won = 0, .best_ceiling_share = 0.1}}});
  ASSERT_EQ(names(ranked), (std::vector<std::string>{"a", "b"}));
  EXPECT_NEAR(ranked[0].recoverable, 10 * 1.0 * 0.15, 1e-9);
  EXPECT_NEAR(ranked[1].recoverable, 10 * 0.1 * 0.6 / 14, 1e-9);
  EXPECT_EQ(ranked[0].why,
            "10.0 of 10.0 accelerator-seconds (100 %) idle or low in 1 job; not profiled yet, so a "
            "lever is taken to reach 100 %; 0 of 0 tried won, chance 15 %");
  EXPECT_EQ(ranked[1].why,
            "10.0 of 10.0 accelerator-seconds (100 %) idle or low in 1 job; the latest profile's "
            "largest cause explains 10 %; 0 of 10 tried won, chance 4.3 %");
}

TEST(Rank, SumsAFamily) {
  std::vector<model::Usage> jobs = {job("1", "a", 1, hours(0)), job("2", "a", 0.5F, hours(5)),
                                    job("3", "a", 0, hours(3))};
  jobs[2].failed = true;
  jobs.push_back(jobs[2]);  // The same record, found twice.
  const auto ranked = rank(jobs, {});
  ASSERT_EQ(ranked.size(), 1U);
  EXPECT_EQ(ranked[0].jobs, 3);
  EXPECT_EQ(ranked[0].failed, 1);
  EXPECT_EQ(ranked[0].latest_job, "2");
  EXPECT_DOUBLE_EQ(ranked[0].split.allocated, 30);
  EXPECT_DOUBLE_EQ(ranked[0].split.productive, 15);
  EXPECT_DOUBLE_EQ(ranked[0].lost_in_failed, 10);
  // 30 accelerator-seconds in five hours and ten seconds.
  EXPECT_NEAR(ranked[0].volume_per_day, 30.0 / 3600 / ((5 + 10.0 / 3600) / 24), 1e-9);
}

TEST(Rank, TheWindowIsAtLeastAnHour) {
  const auto ranked = rank(std::vector{job("1", "a", 1, {}, seconds(36))}, {});
  EXPECT_NEAR(ranked[0].volume_per_day, 0.24, 1e-9);
}

TEST(Rank, UnobservedJobsAreNotCalledIdle) {
  model::Usage dark = job("1", "dark", 0);
  dark.utilisation.accelerators.clear();
  const auto ranked = rank(std::vector{dark, job("2", "half", 0.5F)}, {});
  EXPECT_EQ(names(ranked), (std::vector<std::string>{"half", "dark"}));
  EXPECT_EQ(ranked[1].recoverable, 0);
  EXPECT_EQ(ranked[1].why, "10.0 accelerator-seconds in 1 job, none of them observed: cannot tell");
}

TEST(Rank, NothingInNothingOut) { EXPECT_TRUE(rank({}, {}).empty()); }

}  // namespace
}  // namespace amdahl::scan
