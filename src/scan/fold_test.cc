// The traps of facts about fleets, each with what it would cost; small fleets by hand.
#include "scan/fold.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace amdahl::scan {
namespace {

using fleet::Sample;
using fleet::SeriesId;
using model::JobDraft;
using model::JobState;
using model::Trouble;
using std::chrono::seconds;

constexpr seconds kStart{1'700'000'000};

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

SeriesId series(Fold& fold, std::string_view device = "0", std::string_view job = {},
                std::string_view metric = "DCGM_FI_DEV_GPU_UTIL", std::string_view host = "h1") {
  return fold.series({.host = host,
                      .accelerator = device,
                      .uuid = {},
                      .slice = {},
                      .job = job,
                      .metric = metric,
                      .kind = {}});
}

void give(Fold& fold, SeriesId id, int at, float value) {
  const Sample sample{kStart + seconds(at), value};
  fold.samples(id, {&sample, 1});
}

// Every ten seconds of [from, to).
void give_all(Fold& fold, SeriesId id, int from, int to, float value) {
  for (int at = from; at < to; at += 10) give(fold, id, at, value);
}

std::uint64_t count_of(const FleetUsage& usage, Trouble trouble) {
  for (const TroubleCount& row : usage.troubles) {
    if (row.trouble == trouble) return row.count;
  }
  return 0;
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

TEST(Fold, SplitsWhatAJobHeld) {
  Fold fold({.window = kHour, .idle_below = 0.05});
  fold.job(draft("1", 0, 400), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100, 0);
  give_all(fold, id, 100, 200, 4);
  give_all(fold, id, 200, 400, 80);
  const FleetUsage usage = std::move(fold).finish();
  const FleetJob& job = job_of(usage, "1");
  expect_split(job.split, 400, 0, 200, 40, 160);
  EXPECT_NEAR(job.idle_at_zero, 100, 1e-6);
  EXPECT_NEAR(job.low_at_zero, 96 + 40, 1e-6);
  EXPECT_EQ(job.evidence, Evidence::kSamples);
  EXPECT_EQ(usage.text(job.metric), "DCGM_FI_DEV_GPU_UTIL");
}

TEST(Fold, AJobWithoutSamplesIsUnobservedNotIdle) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100), {});
  fold.job(draft("2", 200, 203), {});  // Shorter than the cadence: nobody looked.
  fold.tell(fleet::Place{"1", "h1", "0"});
  fold.tell(fleet::Place{"2", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100, 50);
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "2").split, 3, 3, 0, 0, 0);
  EXPECT_EQ(job_of(usage, "2").evidence, Evidence::kNone);
  EXPECT_EQ(count_of(usage, Trouble::kUnknownPlace), 0U);
}

TEST(Fold, OneOfFourAcceleratorsWithoutTelemetry) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100, 4), {});
  for (const char* device : {"0", "1", "2", "3"}) fold.tell(fleet::Place{"1", "h1", device});
  for (const char* device : {"0", "1", "2"}) give_all(fold, series(fold, device), 0, 100, 100);
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 400, 100, 0, 0, 300);
  ASSERT_EQ(usage.lanes_of(job_of(usage, "1")).size(), 4U);
  EXPECT_EQ(usage.text(usage.lanes_of(job_of(usage, "1"))[3].accelerator), "3");
  EXPECT_EQ(usage.lanes_of(job_of(usage, "1"))[3].samples, 0U);
}

TEST(Fold, ClipsToTheWindow) {
  Fold fold({.window = Window{kStart + seconds(100), kStart + seconds(200)}});
  fold.job(draft("1", 0, 400), {});
  fold.job(draft("2", 400, 500), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 400, 50);
  const FleetUsage usage = std::move(fold).finish();
  ASSERT_EQ(usage.jobs.size(), 1U);
  expect_split(job_of(usage, "1").split, 100, 0, 0, 50, 50);
  EXPECT_EQ(usage.jobs[0].start, kStart);
  EXPECT_EQ(usage.outside, 1U);
  EXPECT_EQ(usage.outside_samples, 30U);
  EXPECT_NEAR(usage.unclipped, 500, 1e-6);
}

TEST(Fold, HoldingASampleAcrossGaps) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 1000), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100, 100);    // The last is at 90, the next at 500:
  give_all(fold, id, 500, 600, 100);  // 410 s, of which 20 are held; then 410 s to the end.
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 1000, 390 + 390, 0, 0, 220);
}

TEST(Fold, DcgmBlanksAreNoNumbers) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100, 50);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  int at = 1;
  for (const float value : {9223372036854775794.0F, 9223372036854775807.0F, 2147483632.0F, kNan,
                            kInfinite, -1.0F, 101.0F}) {
    give(fold, id, 90 + at++, value);
  }
  const FleetUsage usage = std::move(fold).finish();
  EXPECT_EQ(count_of(usage, Trouble::kBlankValue), 3U);
  EXPECT_EQ(count_of(usage, Trouble::kNotFinite), 2U);
  EXPECT_EQ(count_of(usage, Trouble::kOutOfRange), 2U);
  expect_split(job_of(usage, "1").split, 100, 0, 0, 50, 50);
}

TEST(Fold, RequeuedAndDuplicatedRecords) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100), {});
  fold.job(draft("1", 0, 100), {});    // The same record again.
  fold.job(draft("1", 200, 300), {});  // Requeued.
  fold.tell(fleet::Place{"1", "h1", "0"});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100, 0);
  give_all(fold, id, 100, 200, 0);
  give_all(fold, id, 200, 300, 100);
  const FleetUsage usage = std::move(fold).finish();
  ASSERT_EQ(usage.jobs.size(), 2U);
  expect_split(job_of(usage, "1", 0).split, 100, 0, 100, 0, 0);
  expect_split(job_of(usage, "1", 1).split, 100, 0, 0, 0, 100);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kRequeued), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kNoJob), 10U);
}

TEST(Fold, AFinishedRecordTakesThePlaceOfARunningOne) {
  Fold fold({.window = kHour});
  JobDraft running = draft("1", 0, 0);
  running.end = {};
  running.elapsed = seconds(50);
  running.state = JobState::kRunning;
  fold.job(running, {});
  fold.job(draft("1", 0, 100), {});
  const FleetUsage usage = std::move(fold).finish();
  ASSERT_EQ(usage.jobs.size(), 1U);
  EXPECT_FALSE(usage.jobs[0].running);
  EXPECT_EQ(usage.jobs[0].end, kStart + seconds(100));
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
}

// Slurm and an archive tell of the same job; their clocks differ by a second.
TEST(Fold, TwoSourcesOfOneJob) {
  Fold fold;
  JobDraft one = draft("1", 0, 100, 2);
  one.user = {};
  fold.job(one, {});
  JobDraft other = draft("1", 1, 101, 2);
  other.account = "chem";
  other.mean_utilisation = 0.5;
  other.metric = "acc_utilization";
  fold.job(other, {});
  JobDraft elsewhere = draft("1", 50, 150, 2);  // The same number in another cluster.
  elsewhere.user = "bob";
  fold.job(elsewhere, {});
  const FleetUsage usage = std::move(fold).finish();
  ASSERT_EQ(usage.jobs.size(), 2U);
  expect_split(usage.jobs[0].split, 200, 0, 0, 100, 100);
  EXPECT_EQ(usage.text(usage.jobs[0].user), "ada");
  EXPECT_EQ(usage.text(usage.jobs[0].account), "chem");
  EXPECT_EQ(usage.text(usage.jobs[1].user), "bob");
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
}

TEST(Fold, EndUnknownRunsToTheEndOfTheWindow) {
  Fold fold({.window = kHour});
  JobDraft running = draft("1", 3000, 3000);
  running.end = {};
  running.state = JobState::kRunning;
  fold.job(running, {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  give_all(fold, series(fold), 3000, 3600, 100);
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 600, 0, 0, 0, 600);
  EXPECT_TRUE(usage.jobs[0].running);
  EXPECT_EQ(count_of(usage, Trouble::kRunning), 1U);
}

// End - Start in local time is an hour off over a change of the clocks.
TEST(Fold, ElapsedWinsOverEndMinusStart) {
  Fold fold;
  JobDraft job = draft("1", 0, 7200);
  job.elapsed = seconds(3600);
  fold.job(job, {});
  const FleetUsage usage = std::move(fold).finish();
  EXPECT_NEAR(usage.jobs[0].split.allocated, 3600, 1e-6);
}

TEST(Fold, WhatHeldNothingIsCounted) {
  Fold fold;
  fold.job(draft("1", 0, 100, 0), {});
  JobDraft waiting = draft("2", 0, 100);
  waiting.state = JobState::kPending;
  waiting.start = {};
  fold.job(waiting, {});
  fold.input("sacct.txt");
  fold.job(draft("3", 100, 0), {17, 0});
  const FleetUsage usage = std::move(fold).finish();
  EXPECT_TRUE(usage.jobs.empty());
  EXPECT_EQ(count_of(usage, Trouble::kNoAccelerator), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kNeverStarted), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kBadTime), 1U);
  ASSERT_EQ(usage.complaints.size(), 1U);
  EXPECT_EQ(usage.complaints[0].input, "sacct.txt");
  EXPECT_EQ(usage.complaints[0].line, 17U);
  EXPECT_EQ(usage.complaints[0].text, "3: its end lies before its start");
}

TEST(Fold, LateAndDuplicateSamples) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 200), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 80, 100);
  give(fold, id, 90, 100);
  give(fold, id, 80, 0);  // Late by one, its time is free.
  give(fold, id, 90, 0);  // Twice.
  give(fold, id, 70, 0);  // Twice, a while ago.
  give(fold, id, 10, 0);  // Twice, long ago: on the grid of what was taken.
  give(fold, id, 13, 0);  // Long ago: who knows.
  give_all(fold, id, 100, 200, 100);
  const FleetUsage usage = std::move(fold).finish();
  EXPECT_EQ(count_of(usage, Trouble::kLateSample), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kUnordered), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicateSample), 3U);
  expect_split(job_of(usage, "1").split, 200, 0, 10, 0, 190);
}

// Two files in the wrong order, and one of them twice.
TEST(Fold, InputThatGoesBackInTime) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 400), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 200, 400, 100);
  give_all(fold, id, 0, 200, 0);
  give_all(fold, id, 200, 400, 100);
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 400, 0, 200, 0, 200);
  EXPECT_EQ(count_of(usage, Trouble::kLateSample), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicateSample), 20U);
  const Lane& lane = usage.lanes_of(usage.jobs[0])[0];
  EXPECT_EQ(lane.samples, 40U);
}

TEST(Fold, ALabelWinsOverPlaceAndTime) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100), {});
  fold.job(draft("2", 0, 100), {});
  JobDraft array = draft("7_3", 0, 100);
  array.raw = "9";
  fold.job(array, {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  give_all(fold, series(fold, "0", "2"), 0, 100, 100);
  give_all(fold, series(fold, "1", "9"), 0, 120, 100);  // By the scheduler's number; 20 s too long.
  give_all(fold, series(fold, "2", "77"), 0, 100, 100);
  give_all(fold, series(fold, "0", "0"), 0, 100, 0);  // "0": no label.
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 100, 0, 100, 0, 0);
  expect_split(job_of(usage, "2").split, 100, 0, 0, 0, 100);
  expect_split(job_of(usage, "7_3").split, 100, 0, 0, 0, 100);
  EXPECT_EQ(count_of(usage, Trouble::kSkew), 2U);
  EXPECT_EQ(count_of(usage, Trouble::kUnknownJob), 10U);
}

TEST(Fold, WholeHostsNeedNoIndices) {
  Fold fold({.window = kHour});
  JobDraft whole = draft("1", 0, 100, 4);
  whole.hosts = "h[1-2]";
  fold.job(whole, {});
  JobDraft part = draft("2", 100, 200, 1);
  part.hosts = "h1";
  fold.job(part, {});
  for (const char* host : {"h1", "h2"}) {
    for (const char* device : {"0", "1"}) {
      give_all(fold, series(fold, device, {}, "DCGM_FI_DEV_GPU_UTIL", host), 0, 200, 100);
    }
  }
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 400, 0, 0, 0, 400);
  expect_split(job_of(usage, "2").split, 100, 100, 0, 0, 0);
  EXPECT_EQ(count_of(usage, Trouble::kUnknownPlace), 1U);
}

TEST(Fold, WholeHostsOfDifferentSizes) {
  Fold fold({.window = kHour});
  JobDraft job = draft("1", 0, 100, 3);
  job.hosts = "h1,h2";
  fold.job(job, {});
  give_all(fold, series(fold, "0"), 0, 100, 100);
  for (const char* device : {"0", "1"}) {
    give_all(fold, series(fold, device, {}, "DCGM_FI_DEV_GPU_UTIL", "h2"), 0, 100, 100);
  }
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 300, 0, 0, 0, 300);
}

// A host with more accelerators than have telemetry is not all of a job's.
TEST(Fold, ToldCapacityDecidesWhatAWholeHostIs) {
  Fold fold({.window = kHour});
  fold.tell(fleet::Capacity{"h1", "gpu", "a100", 4});
  JobDraft job = draft("1", 0, 100, 2);
  job.hosts = "h1";
  fold.job(job, {});
  for (const char* device : {"0", "1"}) give_all(fold, series(fold, device), 0, 100, 100);
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 200, 200, 0, 0, 0);
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 4);
  EXPECT_TRUE(usage.capacities[0].told);
}

TEST(Fold, PrefersSmActiveAndNamesIt) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100, 2), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  fold.tell(fleet::Place{"1", "h1", "1"});
  give_all(fold, series(fold, "0"), 0, 100, 100);
  give_all(fold, series(fold, "0", {}, "DCGM_FI_PROF_SM_ACTIVE"), 0, 100, 0.25F);
  give_all(fold, series(fold, "0", {}, "DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 0, 100, 0.5F);
  give_all(fold, series(fold, "0", {}, "DCGM_FI_DEV_POWER_USAGE"), 0, 100, 300);
  give_all(fold, series(fold, "1"), 0, 100, 100);  // Has nothing better.
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 200, 0, 0, 75, 125);
  const auto lanes = usage.lanes_of(usage.jobs[0]);
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(usage.text(lanes[0].metric), "DCGM_FI_PROF_SM_ACTIVE");
  EXPECT_EQ(usage.text(lanes[1].metric), "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(count_of(usage, Trouble::kOtherMetric), 10U);
}

TEST(Fold, ASharedAcceleratorIsSharedOut) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 200, 0.5), {});
  fold.job(draft("2", 100, 300, 0.5), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  fold.tell(fleet::Place{"2", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 200, 100);
  give_all(fold, id, 200, 300, 0);
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 100, 0, 0, 0, 100);
  expect_split(job_of(usage, "2").split, 100, 0, 50, 0, 50);
  EXPECT_EQ(usage.lanes.size(), 2U);
}

TEST(Fold, AMeanWhereNothingIsFiner) {
  Fold fold;
  JobDraft job = draft("1", 0, 100, 2);
  job.mean_utilisation = 0.6;
  job.metric = "acc_utilization";
  fold.job(job, {});
  job.id = "2";
  job.mean_utilisation = 0;
  fold.job(job, {});
  const FleetUsage usage = std::move(fold).finish();
  expect_split(job_of(usage, "1").split, 200, 0, 0, 80, 120);
  expect_split(job_of(usage, "2").split, 200, 0, 200, 0, 0);
  EXPECT_EQ(job_of(usage, "1").evidence, Evidence::kMean);
  EXPECT_EQ(usage.text(job_of(usage, "1").metric), "acc_utilization");
}

TEST(Fold, JobsThatComeAfterTheirSamplesBegan) {
  Fold fold({.window = kHour});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100, 100);
  fold.job(draft("1", 0, 200), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  give_all(fold, id, 100, 200, 100);
  const FleetUsage usage = std::move(fold).finish();
  EXPECT_EQ(usage.attributed, 10U);
  EXPECT_EQ(count_of(usage, Trouble::kNoJob), 10U);
  expect_split(job_of(usage, "1").split, 200, 80, 0, 0, 120);  // 100 s before, less 2 × 10.
}

TEST(Fold, UnallocatedAndOccupiedCapacity) {
  Fold fold({.window = kHour});
  fold.job(draft("1", 0, 100), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  give_all(fold, series(fold, "0"), 0, 200, 100);
  give_all(fold, series(fold, "1"), 0, 200, 0);
  fold.tell(fleet::Occupancy{"vc1", kStart - seconds(60), seconds(120), 10, 6, 1});
  const FleetUsage usage = std::move(fold).finish();
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 2);
  EXPECT_FALSE(usage.capacities[0].told);
  EXPECT_NEAR(usage.capacities[0].unallocated, 300, 1e-6);
  ASSERT_EQ(usage.occupied.size(), 1U);
  EXPECT_NEAR(usage.occupied[0].total, 600, 1e-6);
  EXPECT_NEAR(usage.occupied[0].allocated, 360, 1e-6);
  EXPECT_NEAR(usage.occupied[0].down, 60, 1e-6);
}

TEST(Fold, TimelinesShowWhenItWasIdle) {
  Fold fold({.window = Window{kStart, kStart + seconds(64000)}});
  fold.job(draft("1", 0, 64000), {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 32000, 0);
  give_all(fold, id, 32000, 64000, 90);
  const FleetUsage usage = std::move(fold).finish();
  const Lane& lane = usage.lanes_of(usage.jobs[0])[0];
  const auto bins = usage.bins_of(lane);
  ASSERT_EQ(bins.size(), 64U);
  EXPECT_EQ(lane.bin_width, seconds(1000));
  EXPECT_EQ(lane.bin_start, kStart);
  EXPECT_EQ(mean_of(bins[31]), 0);
  EXPECT_EQ(bins[31].idle, 100U);
  EXPECT_NEAR(mean_of(bins[32]), 0.9, 1e-6);
  EXPECT_EQ(least_of(bins[32]), 0.9);
  EXPECT_EQ(most_of(bins[32]), 0.9);
}

// No window, no end: the bins double their width as the job goes on.
TEST(Fold, TimelineOfARunningJobOfUnknownLength) {
  Fold fold;
  JobDraft running = draft("1", 0, 0);
  running.end = {};
  running.state = JobState::kRunning;
  fold.job(running, {});
  fold.tell(fleet::Place{"1", "h1", "0"});
  const SeriesId id = series(fold);
  give_all(fold, id, 0, 100000, 0);
  const FleetUsage usage = std::move(fold).finish();
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
