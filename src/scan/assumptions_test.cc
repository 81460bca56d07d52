// Records that can be read in more than one way: what is taken, and that it is said.
#include "scan/assumptions.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "scan/capacity.h"
#include "scan/usage_testing.h"

namespace amdahl::scan {
namespace {

using fleet::Sample;
using fleet::SeriesId;
using model::JobDraft;
using model::JobState;
using model::Trouble;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

JobDraft draft_of_hours(std::string_view id, hours from, hours to, double accelerators = 1) {
  JobDraft job;
  job.id = id;
  job.state = JobState::kCompleted;
  job.submit = kStart;
  job.start = kStart + from;
  job.end = kStart + to;
  job.accelerators = accelerators;
  return job;
}

JobDraft running(std::string_view id, hours from, Nanos elapsed) {
  JobDraft job = draft_of_hours(id, from, from);
  job.end = {};
  job.elapsed = elapsed;
  job.state = JobState::kRunning;
  return job;
}

void give_minutes(UsageAccumulator& accumulator, std::string_view job, Nanos from, Nanos to) {
  const SeriesId id = accumulator.series({.host = "h1",
                                          .accelerator = "0",
                                          .uuid = {},
                                          .slice = {},
                                          .job = job,
                                          .metric = "DCGM_FI_DEV_GPU_UTIL",
                                          .kind = {}});
  for (Nanos at = from; at < to; at += minutes(1)) {
    const Sample sample{kStart + at, 50};
    accumulator.samples(id, {&sample, 1});
  }
}

double allocated_hours(const FleetUsage& usage) { return total_of(usage.jobs).allocated / 3600; }

std::string said_of(const FleetUsage& usage, std::string_view about) {
  for (const Assumption& one : usage.assumptions) {
    if (one.about == about) return one.says;
  }
  return "nothing";
}

// A file of March beside one of December: what ran in March did not run until December.
TEST(Assumptions, ARunningJobRanAsLongAsWasCounted) {
  UsageAccumulator accumulator;
  accumulator.job(running("1", hours(0), hours(10)), {});
  accumulator.job(running("2", hours(10), hours(0)), {});
  accumulator.job(draft_of_hours("3", hours(6000), hours(6010)), {});
  const FleetUsage usage = std::move(accumulator).finish();
  EXPECT_NEAR(allocated_hours(usage), 20, 1e-9);
  EXPECT_TRUE(usage.jobs[0].running);
  EXPECT_EQ(count_of(usage, Trouble::kRunning), 2U);
  EXPECT_EQ(
      said_of(usage, "running job"),
      "2 jobs ran when the accounting was written, 2023-11-15 08:13 UTC at the latest: counted "
      "up to then; to the end of the window it would be 12,000 h more");
}

TEST(Assumptions, TheLaterOfTwoRecordsOfARunningJobCounts) {
  for (const bool later_first : {false, true}) {
    UsageAccumulator accumulator;
    accumulator.job(running("1", hours(0), hours(later_first ? 7 : 5)), {});
    accumulator.job(running("1", hours(0), hours(later_first ? 5 : 7)), {});
    EXPECT_NEAR(allocated_hours(std::move(accumulator).finish()), 7, 1e-9);
  }
}

// Samples that name the job say that it ran on; others are of nobody known.
TEST(Assumptions, SamplesThatNameARunningJobMakeItLonger) {
  for (const bool named : {true, false}) {
    UsageAccumulator accumulator;
    accumulator.job(running("1", hours(0), hours(2)), {});
    accumulator.tell(fleet::Assignment{"1", "h1", "0"});
    give_minutes(accumulator, named ? "1" : "", hours(0), hours(3));
    const FleetUsage usage = std::move(accumulator).finish();
    EXPECT_NEAR(allocated_hours(usage), named ? 3 : 2, 1e-9);
    EXPECT_EQ(count_of(usage, Trouble::kNoJob), named ? 0U : 60U);
  }
}

TEST(Assumptions, AJobOfWhichNothingIsSaidRunsToTheEndAndThatIsSaid) {
  UsageAccumulator accumulator;
  accumulator.job(running("1", hours(0), Nanos{-1}), {});
  accumulator.tell(fleet::Assignment{"1", "h1", "0"});
  give_minutes(accumulator, "", hours(0), hours(3));
  const FleetUsage usage = std::move(accumulator).finish();
  EXPECT_NEAR(allocated_hours(usage), 3, 1e-9);
  EXPECT_EQ(
      said_of(usage, "running job"),
      "neither an end nor an elapsed time is given for 1 job (3.00 h): assumed to run to the end "
      "of the window");
}

TEST(Assumptions, AStartThatIsNotSaidIsWorkedOut) {
  const auto without_start = [](JobState state, Nanos elapsed, Nanos submit) {
    JobDraft job = draft_of_hours("1", hours(0), hours(10));
    job.start = {};
    job.state = state;
    job.elapsed = elapsed;
    job.submit = submit;
    return job;
  };
  const Nanos early = kStart + hours(2);
  const struct {
    const char* name;
    JobDraft job;
    double want;  // Hours.
    Trouble trouble;
  } cases[] = {
      {"elapsed", without_start(JobState::kCompleted, hours(3), early), 3, Trouble::kDerivedStart},
      {"cancelled while it ran", without_start(JobState::kCancelled, hours(3), {}), 3,
       Trouble::kDerivedStart},
      {"submitted", without_start(JobState::kCompleted, Nanos{-1}, early), 8,
       Trouble::kDerivedStart},
      {"timed out", without_start(JobState::kTimeout, Nanos{-1}, early), 8, Trouble::kDerivedStart},
      {"nothing else", without_start(JobState::kCompleted, Nanos{-1}, {}), 0, Trouble::kNoStart},
      {"it may have failed in the queue", without_start(JobState::kFailed, Nanos{-1}, early), 0,
       Trouble::kNoStart},
      {"of no state", without_start(JobState::kOther, Nanos{-1}, early), 0, Trouble::kNoStart},
      {"cancelled in the queue", without_start(JobState::kCancelled, Nanos{-1}, early), 0,
       Trouble::kNeverStarted},
      {"waiting", without_start(JobState::kPending, Nanos{-1}, early), 0, Trouble::kNeverStarted},
      {"ran for nothing", without_start(JobState::kCompleted, Nanos{0}, early), 0,
       Trouble::kNeverStarted},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    UsageAccumulator accumulator;
    accumulator.job(c.job, {});
    accumulator.job(draft_of_hours("2", hours(0), hours(10)), {});
    const FleetUsage usage = std::move(accumulator).finish();
    EXPECT_NEAR(allocated_hours(usage), 10 + c.want, 1e-9);
    EXPECT_EQ(count_of(usage, c.trouble), 1U);
    const bool is_said = c.trouble != Trouble::kNeverStarted;
    EXPECT_EQ(said_of(usage, name(c.trouble)) != "nothing", is_said);
  }
}

// How long it ran is known, where in time it is not.
TEST(Assumptions, AJobThatOnlySaysHowLongItRanBeganAtTheEarliestWhenSubmitted) {
  UsageAccumulator accumulator;
  JobDraft job = draft_of_hours("1", hours(0), hours(0));
  job.start = job.end = {};
  job.elapsed = hours(4);
  accumulator.job(job, {});
  EXPECT_NEAR(allocated_hours(std::move(accumulator).finish()), 4, 1e-9);
}

TEST(Assumptions, WhatChangesLittleIsNotSaid) {
  UsageAccumulator accumulator;
  accumulator.job(running("1", hours(0), Nanos{-1}), {});
  for (int i = 0; i < 200; ++i)
    accumulator.job(draft_of_hours(fmt::format("j{}", i), hours(0), hours(1), 8), {});
  EXPECT_EQ(said_of(std::move(accumulator).finish(), "running job"), "nothing");
}

// Without accounting nobody knows what was allocated; what accelerators did is known.
TEST(Assumptions, TelemetryAloneSaysNothingOfAllocation) {
  for (const bool with_jobs : {false, true}) {
    UsageAccumulator accumulator;
    if (with_jobs) accumulator.job(draft_of_hours("1", hours(0), hours(1)), {});
    give_minutes(accumulator, "", hours(0), hours(10));
    const FleetUsage usage = std::move(accumulator).finish();
    const CapacityUse use = fleet_capacity(usage, total_of(usage.jobs), 0);
    EXPECT_EQ(use.is_accounted, with_jobs);
    EXPECT_EQ(use.unallocated.has_value(), with_jobs);
    EXPECT_NEAR(use.total.value() / 3600, 10, 1e-9);
    EXPECT_NEAR(use.free / 3600, 10, 0.01);
    EXPECT_NEAR(use.free_use / 3600, 5, 0.01);
    EXPECT_EQ(use.free_idle, 0);
  }
}

}  // namespace
}  // namespace amdahl::scan
