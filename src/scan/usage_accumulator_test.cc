// The traps of facts about fleets, each with what it would cost; small fleets by hand.
#include "scan/usage_accumulator.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "scan/usage_testing.h"

namespace amdahl::scan {
namespace {

using fleet::Sample;
using fleet::SeriesId;
using model::JobDraft;
using model::JobState;
using model::Trouble;
using std::chrono::seconds;

JobDraft draft(std::string_view id, int from, int to, double accelerators = 1) {
  JobDraft job;
  job.id = id;
  job.user = "ada";
  job.state = JobState::kCompleted;
  job.submit = kStart;
  job.start = kStart + seconds(from);
  job.end = kStart + seconds(to);
  job.accelerators = accelerators;
  return job;
}

SeriesId series(UsageAccumulator& sums, std::string_view device = "0", std::string_view job = {},
                std::string_view metric = "DCGM_FI_DEV_GPU_UTIL", std::string_view host = "h1") {
  return sums.series({.host = host,
                      .accelerator = device,
                      .uuid = {},
                      .slice = {},
                      .job = job,
                      .metric = metric,
                      .kind = {}});
}

void give(UsageAccumulator& sums, SeriesId id, int at, float value) {
  const Sample sample{kStart + seconds(at), value};
  sums.samples(id, {&sample, 1});
}

// Every ten seconds of [from, to).
void give_all(UsageAccumulator& sums, SeriesId id, int from, int to, float value) {
  for (int at = from; at < to; at += 10) give(sums, id, at, value);
}

FleetJob job_of(const FleetUsage& usage, std::string_view id, int attempt = 0) {
  for (const FleetJob& job : usage.jobs) {
    if (usage.text(job.id) == id && job.attempt == attempt) return job;
  }
  ADD_FAILURE() << "no job " << id;
  return {};
}

void expect_split(const Split& split, double allocated, double unobserved, double idle, double low,
                  double productive) {
  EXPECT_NEAR(split.allocated, allocated, 1e-6);
  EXPECT_NEAR(split.unobserved, unobserved, 1e-6);
  EXPECT_NEAR(split.idle, idle, 1e-6);
  EXPECT_NEAR(split.low, low, 1e-6);
  EXPECT_NEAR(split.productive, productive, 1e-6);
}

const Window kHour{kStart, kStart + seconds(3600)};

TEST(UsageAccumulator, SplitsWhatAJobHeld) {
  UsageAccumulator sums({.window = kHour, .idle_below = 0.05});
  sums.job(draft("1", 0, 400), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100, 0);
  give_all(sums, id, 100, 200, 4);
  give_all(sums, id, 200, 400, 80);
  const FleetUsage usage = std::move(sums).finish();
  const FleetJob& job = job_of(usage, "1");
  expect_split(job.split, 400, 0, 200, 40, 160);
  EXPECT_NEAR(job.idle_at_zero, 100, 1e-6);
  EXPECT_NEAR(job.low_at_zero, 96 + 40, 1e-6);
  EXPECT_EQ(job.evidence, Evidence::kSamples);
  EXPECT_EQ(usage.text(job.metric), "DCGM_FI_DEV_GPU_UTIL");
}

TEST(UsageAccumulator, AJobWithoutSamplesIsUnobservedNotIdle) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100), {});
  sums.job(draft("2", 200, 203), {});  // Shorter than the cadence: nobody looked.
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  sums.tell(fleet::Assignment{"2", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100, 50);
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "2").split, 3, 3, 0, 0, 0);
  EXPECT_EQ(job_of(usage, "2").evidence, Evidence::kNone);
  EXPECT_EQ(count_of(usage, Trouble::kUnknownPlace), 0U);
}

TEST(UsageAccumulator, OneOfFourAcceleratorsWithoutTelemetry) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100, 4), {});
  for (const char* device : {"0", "1", "2", "3"}) sums.tell(fleet::Assignment{"1", "h1", device});
  for (const char* device : {"0", "1", "2"}) give_all(sums, series(sums, device), 0, 100, 100);
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 400, 100, 0, 0, 300);
  ASSERT_EQ(usage.lanes_of(job_of(usage, "1")).size(), 4U);
  EXPECT_EQ(usage.text(usage.lanes_of(job_of(usage, "1"))[3].accelerator), "3");
  EXPECT_EQ(usage.lanes_of(job_of(usage, "1"))[3].samples, 0U);
}

TEST(UsageAccumulator, ClipsToTheWindow) {
  UsageAccumulator sums({.window = Window{kStart + seconds(100), kStart + seconds(200)}});
  sums.job(draft("1", 0, 400), {});
  sums.job(draft("2", 400, 500), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 400, 50);
  const FleetUsage usage = std::move(sums).finish();
  ASSERT_EQ(usage.jobs.size(), 1U);
  expect_split(job_of(usage, "1").split, 100, 0, 0, 50, 50);
  EXPECT_EQ(usage.jobs[0].start, kStart);
  EXPECT_EQ(usage.outside, 1U);
  EXPECT_EQ(usage.outside_samples, 30U);
  EXPECT_NEAR(usage.unclipped, 500, 1e-6);
}

TEST(UsageAccumulator, HoldingASampleAcrossGaps) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 1000), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100, 100);    // The last is at 90, the next at 500:
  give_all(sums, id, 500, 600, 100);  // 410 s, of which 20 are held; then 410 s to the end.
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 1000, 390 + 390, 0, 0, 220);
}

TEST(UsageAccumulator, DcgmBlanksAreNoNumbers) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100, 50);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  int at = 1;
  for (const float value : {9223372036854775794.0F, 9223372036854775807.0F, 2147483632.0F, kNan,
                            kInfinite, -1.0F, 101.0F}) {
    give(sums, id, 90 + at++, value);
  }
  const FleetUsage usage = std::move(sums).finish();
  EXPECT_EQ(count_of(usage, Trouble::kBlankValue), 3U);
  EXPECT_EQ(count_of(usage, Trouble::kNotFinite), 2U);
  EXPECT_EQ(count_of(usage, Trouble::kOutOfRange), 2U);
  expect_split(job_of(usage, "1").split, 100, 0, 0, 50, 50);
}

TEST(UsageAccumulator, RequeuedAndDuplicatedRecords) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100), {});
  sums.job(draft("1", 0, 100), {});    // The same record again.
  sums.job(draft("1", 200, 300), {});  // Requeued.
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100, 0);
  give_all(sums, id, 100, 200, 0);
  give_all(sums, id, 200, 300, 100);
  const FleetUsage usage = std::move(sums).finish();
  ASSERT_EQ(usage.jobs.size(), 2U);
  expect_split(job_of(usage, "1", 0).split, 100, 0, 100, 0, 0);
  expect_split(job_of(usage, "1", 1).split, 100, 0, 0, 0, 100);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kRequeued), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kNoJob), 10U);
}

TEST(UsageAccumulator, AFinishedRecordTakesThePlaceOfARunningOne) {
  UsageAccumulator sums({.window = kHour});
  JobDraft running = draft("1", 0, 0);
  running.end = {};
  running.elapsed = seconds(50);
  running.state = JobState::kRunning;
  sums.job(running, {});
  sums.job(draft("1", 0, 100), {});
  const FleetUsage usage = std::move(sums).finish();
  ASSERT_EQ(usage.jobs.size(), 1U);
  EXPECT_FALSE(usage.jobs[0].running);
  EXPECT_EQ(usage.jobs[0].end, kStart + seconds(100));
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
}

// Slurm and an archive tell of the same job; their clocks differ by a second.
TEST(UsageAccumulator, TwoSourcesOfOneJob) {
  UsageAccumulator sums;
  JobDraft one = draft("1", 0, 100, 2);
  one.user = {};
  sums.job(one, {});
  JobDraft other = draft("1", 1, 101, 2);
  other.account = "chem";
  other.mean_utilisation = 0.5;
  other.metric = "acc_utilization";
  sums.job(other, {});
  JobDraft elsewhere = draft("1", 50, 150, 2);  // The same number in another cluster.
  elsewhere.user = "bob";
  sums.job(elsewhere, {});
  const FleetUsage usage = std::move(sums).finish();
  ASSERT_EQ(usage.jobs.size(), 2U);
  expect_split(usage.jobs[0].split, 200, 0, 0, 100, 100);
  EXPECT_EQ(usage.text(usage.jobs[0].user), "ada");
  EXPECT_EQ(usage.text(usage.jobs[0].account), "chem");
  EXPECT_EQ(usage.text(usage.jobs[1].user), "bob");
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
}

TEST(UsageAccumulator, EndUnknownRunsToTheEndOfTheWindow) {
  UsageAccumulator sums({.window = kHour});
  JobDraft running = draft("1", 3000, 3000);
  running.end = {};
  running.state = JobState::kRunning;
  sums.job(running, {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  give_all(sums, series(sums), 3000, 3600, 100);
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 600, 0, 0, 0, 600);
  EXPECT_TRUE(usage.jobs[0].running);
  EXPECT_EQ(count_of(usage, Trouble::kRunning), 1U);
}

// End - Start in local time is an hour off over a change of the clocks.
TEST(UsageAccumulator, ElapsedWinsOverEndMinusStart) {
  UsageAccumulator sums;
  JobDraft job = draft("1", 0, 7200);
  job.elapsed = seconds(3600);
  sums.job(job, {});
  const FleetUsage usage = std::move(sums).finish();
  EXPECT_NEAR(usage.jobs[0].split.allocated, 3600, 1e-6);
}

TEST(UsageAccumulator, WhatHeldNothingIsCounted) {
  UsageAccumulator sums;
  sums.job(draft("1", 0, 100, 0), {});
  JobDraft waiting = draft("2", 0, 100);
  waiting.state = JobState::kPending;
  waiting.start = {};
  sums.job(waiting, {});
  sums.input("sacct.txt");
  sums.job(draft("3", 100, 0), {17, 0});
  const FleetUsage usage = std::move(sums).finish();
  EXPECT_TRUE(usage.jobs.empty());
  EXPECT_EQ(count_of(usage, Trouble::kNoAccelerator), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kNeverStarted), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kBadTime), 1U);
  ASSERT_EQ(usage.complaints.size(), 1U);
  EXPECT_EQ(usage.complaints[0].input, "sacct.txt");
  EXPECT_EQ(usage.complaints[0].line, 17U);
  EXPECT_EQ(usage.complaints[0].text, "3: ends before it starts");
}

TEST(UsageAccumulator, LateAndDuplicateSamples) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 200), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 80, 100);
  give(sums, id, 90, 100);
  give(sums, id, 80, 0);  // Late by one, its time is free.
  give(sums, id, 90, 0);  // Twice.
  give(sums, id, 70, 0);  // Twice, a while ago.
  give(sums, id, 10, 0);  // Twice, long ago: on the grid of what was taken.
  give(sums, id, 13, 0);  // Long ago: who knows.
  give_all(sums, id, 100, 200, 100);
  const FleetUsage usage = std::move(sums).finish();
  EXPECT_EQ(count_of(usage, Trouble::kLateSample), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kUnordered), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicateSample), 3U);
  expect_split(job_of(usage, "1").split, 200, 0, 10, 0, 190);
}

// Two files in the wrong order, and one of them twice.
TEST(UsageAccumulator, InputThatGoesBackInTime) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 400), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 200, 400, 100);
  give_all(sums, id, 0, 200, 0);
  give_all(sums, id, 200, 400, 100);
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 400, 0, 200, 0, 200);
  EXPECT_EQ(count_of(usage, Trouble::kLateSample), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicateSample), 20U);
  const Lane& lane = usage.lanes_of(usage.jobs[0])[0];
  EXPECT_EQ(lane.samples, 40U);
}

TEST(UsageAccumulator, ALabelWinsOverPlaceAndTime) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100), {});
  sums.job(draft("2", 0, 100), {});
  JobDraft array = draft("7_3", 0, 100);
  array.raw = "9";
  sums.job(array, {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  give_all(sums, series(sums, "0", "2"), 0, 100, 100);
  give_all(sums, series(sums, "1", "9"), 0, 120,
           100);  // By the scheduler's number; 20 s too long.
  give_all(sums, series(sums, "2", "77"), 0, 100, 100);
  give_all(sums, series(sums, "0", "0"), 0, 100, 0);  // "0": no label.
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 100, 0, 100, 0, 0);
  expect_split(job_of(usage, "2").split, 100, 0, 0, 0, 100);
  expect_split(job_of(usage, "7_3").split, 100, 0, 0, 0, 100);
  EXPECT_EQ(count_of(usage, Trouble::kSkew), 2U);
  EXPECT_EQ(count_of(usage, Trouble::kUnknownJob), 10U);
}

TEST(UsageAccumulator, WholeHostsNeedNoIndices) {
  UsageAccumulator sums({.window = kHour});
  JobDraft whole = draft("1", 0, 100, 4);
  whole.hosts = "h[1-2]";
  sums.job(whole, {});
  JobDraft part = draft("2", 100, 200, 1);
  part.hosts = "h1";
  sums.job(part, {});
  for (const char* host : {"h1", "h2"}) {
    for (const char* device : {"0", "1"}) {
      give_all(sums, series(sums, device, {}, "DCGM_FI_DEV_GPU_UTIL", host), 0, 200, 100);
    }
  }
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 400, 0, 0, 0, 400);
  expect_split(job_of(usage, "2").split, 100, 100, 0, 0, 0);
  EXPECT_EQ(count_of(usage, Trouble::kUnknownPlace), 1U);
}

TEST(UsageAccumulator, WholeHostsOfDifferentSizes) {
  UsageAccumulator sums({.window = kHour});
  JobDraft job = draft("1", 0, 100, 3);
  job.hosts = "h1,h2";
  sums.job(job, {});
  give_all(sums, series(sums, "0"), 0, 100, 100);
  for (const char* device : {"0", "1"}) {
    give_all(sums, series(sums, device, {}, "DCGM_FI_DEV_GPU_UTIL", "h2"), 0, 100, 100);
  }
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 300, 0, 0, 0, 300);
}

// A host with more accelerators than have telemetry is not all of a job's.
TEST(UsageAccumulator, ToldCapacityDecidesWhatAWholeHostIs) {
  UsageAccumulator sums({.window = kHour});
  sums.tell(fleet::Capacity{"h1", "gpu", "a100", 4});
  JobDraft job = draft("1", 0, 100, 2);
  job.hosts = "h1";
  sums.job(job, {});
  for (const char* device : {"0", "1"}) give_all(sums, series(sums, device), 0, 100, 100);
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 200, 200, 0, 0, 0);
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 4);
  EXPECT_TRUE(usage.capacities[0].told);
}

TEST(UsageAccumulator, PrefersSmActiveAndNamesIt) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100, 2), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  sums.tell(fleet::Assignment{"1", "h1", "1"});
  give_all(sums, series(sums, "0"), 0, 100, 100);
  give_all(sums, series(sums, "0", {}, "DCGM_FI_PROF_SM_ACTIVE"), 0, 100, 0.25F);
  give_all(sums, series(sums, "0", {}, "DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 0, 100, 0.5F);
  give_all(sums, series(sums, "0", {}, "DCGM_FI_DEV_POWER_USAGE"), 0, 100, 300);
  give_all(sums, series(sums, "1"), 0, 100, 100);  // Has nothing better.
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 200, 0, 0, 75, 125);
  const auto lanes = usage.lanes_of(usage.jobs[0]);
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(usage.text(lanes[0].metric), "DCGM_FI_PROF_SM_ACTIVE");
  EXPECT_EQ(usage.text(lanes[1].metric), "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(count_of(usage, Trouble::kOtherMetric), 0U);
  EXPECT_NEAR(lanes[0].watts, 300, 1e-9);
  EXPECT_EQ(lanes[0].powered, std::chrono::seconds{100});
  EXPECT_EQ(lanes[1].powered, Nanos{});
}

TEST(UsageAccumulator, ASharedAcceleratorIsSharedOut) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 200, 0.5), {});
  sums.job(draft("2", 100, 300, 0.5), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  sums.tell(fleet::Assignment{"2", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 200, 100);
  give_all(sums, id, 200, 300, 0);
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 100, 0, 0, 0, 100);
  expect_split(job_of(usage, "2").split, 100, 0, 50, 0, 50);
  EXPECT_EQ(usage.lanes.size(), 2U);
}

TEST(UsageAccumulator, AMeanWhereNothingIsFiner) {
  UsageAccumulator sums;
  JobDraft job = draft("1", 0, 100, 2);
  job.mean_utilisation = 0.6;
  job.metric = "acc_utilization";
  sums.job(job, {});
  job.id = "2";
  job.mean_utilisation = 0;
  sums.job(job, {});
  const FleetUsage usage = std::move(sums).finish();
  expect_split(job_of(usage, "1").split, 200, 0, 0, 80, 120);
  expect_split(job_of(usage, "2").split, 200, 0, 200, 0, 0);
  EXPECT_EQ(job_of(usage, "1").evidence, Evidence::kMean);
  EXPECT_EQ(usage.text(job_of(usage, "1").metric), "acc_utilization");
}

TEST(UsageAccumulator, JobsThatComeAfterTheirSamplesBegan) {
  UsageAccumulator sums({.window = kHour});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100, 100);
  sums.job(draft("1", 0, 200), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  give_all(sums, id, 100, 200, 100);
  const FleetUsage usage = std::move(sums).finish();
  EXPECT_EQ(usage.attributed, 10U);
  EXPECT_EQ(count_of(usage, Trouble::kNoJob), 10U);
  expect_split(job_of(usage, "1").split, 200, 80, 0, 0, 120);  // 100 s before, less 2 × 10.
}

TEST(UsageAccumulator, UnallocatedAndOccupiedCapacity) {
  UsageAccumulator sums({.window = kHour});
  sums.job(draft("1", 0, 100), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  give_all(sums, series(sums, "0"), 0, 200, 100);
  give_all(sums, series(sums, "1"), 0, 200, 0);
  sums.tell(fleet::Occupancy{"vc1", kStart - seconds(60), seconds(120), 10, 6, 1});
  const FleetUsage usage = std::move(sums).finish();
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 2);
  EXPECT_FALSE(usage.capacities[0].told);
  EXPECT_NEAR(usage.capacities[0].unallocated, 300, 1e-6);
  ASSERT_EQ(usage.occupied.size(), 1U);
  EXPECT_NEAR(usage.occupied[0].total, 600, 1e-6);
  EXPECT_NEAR(usage.occupied[0].allocated, 360, 1e-6);
  EXPECT_NEAR(usage.occupied[0].down, 60, 1e-6);
}

TEST(UsageAccumulator, TimelinesShowWhenItWasIdle) {
  UsageAccumulator sums({.window = Window{kStart, kStart + seconds(64000)}});
  sums.job(draft("1", 0, 64000), {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 32000, 0);
  give_all(sums, id, 32000, 64000, 90);
  const FleetUsage usage = std::move(sums).finish();
  const Lane& lane = usage.lanes_of(usage.jobs[0])[0];
  const auto bins = usage.bins_of(lane);
  ASSERT_EQ(bins.size(), 64U);
  EXPECT_EQ(lane.bin_width, seconds(1000));
  EXPECT_EQ(lane.bin_start, kStart);
  EXPECT_EQ(mean_of(bins[31]), 0);
  EXPECT_EQ(bins[31].idle, 100U);
  EXPECT_NEAR(mean_of(bins[32]), 0.9, 1e-6);
  EXPECT_EQ(most_of(bins[32]), 0.9);
}

// No window, no end: the bins double their width as the job goes on.
TEST(UsageAccumulator, TimelineOfARunningJobOfUnknownLength) {
  UsageAccumulator sums;
  JobDraft running = draft("1", 0, 0);
  running.end = {};
  running.state = JobState::kRunning;
  sums.job(running, {});
  sums.tell(fleet::Assignment{"1", "h1", "0"});
  const SeriesId id = series(sums);
  give_all(sums, id, 0, 100000, 0);
  const FleetUsage usage = std::move(sums).finish();
  const Lane& lane = usage.lanes_of(usage.jobs[0])[0];
  std::uint32_t samples = 0;
  for (const Bin& bin : usage.bins_of(lane)) samples += bin.samples;
  EXPECT_EQ(samples, 10000U);
  EXPECT_LE(lane.bins, kMostBins);
  EXPECT_GE(lane.bins, kMostBins / 2 - 1);
  EXPECT_EQ(usage.jobs[0].end, kStart + seconds(100000));
  expect_split(usage.jobs[0].split, 100000, 0, 100000, 0, 0);
}

}  // namespace
}  // namespace amdahl::scan
