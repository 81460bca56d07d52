#include "scan/job_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scan/job_index.h"

namespace amdahl::scan {
namespace {

FleetJob job_number(std::uint32_t i) {
  FleetJob job;
  job.id = JobName{i + 1};
  job.name = i % 7;
  job.user = i % 3;
  job.kind = i % 2;
  job.hosts = i * 2;
  job.state = i % 5 == 0 ? model::JobState::kFailed : model::JobState::kRunning;
  job.running = i % 5 != 0;
  job.open = i % 5 == 1;
  job.attempt = static_cast<std::uint16_t>(i % 4);
  job.accelerators = static_cast<float>(i % 9) / 2;
  job.submit = Nanos{i};
  job.start = Nanos{i + 1};
  job.end = Nanos{std::int64_t{i} << 30};
  job.split.allocated = job.split.unobserved = i;
  if (i % 11 != 0) return job;
  job.evidence = i % 2 == 0 ? Evidence::kSamples : Evidence::kMean;
  job.split.unobserved = 0.25 * i;
  job.split.idle = 0.5 * i;
  job.split.productive = 0.25 * i;
  job.idle_at_zero = 0.1 * i;
  job.low_at_zero = 0.2 * i;
  job.metric = 5;
  job.lane = i;
  job.lanes = 2;
  return job;
}

void expect_hours(const Split& a, const Split& b) {
  EXPECT_EQ(a.allocated, b.allocated);
  EXPECT_EQ(a.unobserved, b.unobserved);
  EXPECT_EQ(a.idle, b.idle);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.productive, b.productive);
}

void expect_same(const FleetJob& a, const FleetJob& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.user, b.user);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.hosts, b.hosts);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.evidence, b.evidence);
  EXPECT_EQ(a.running, b.running);
  EXPECT_EQ(a.open, b.open);
  EXPECT_EQ(a.attempt, b.attempt);
  EXPECT_EQ(a.accelerators, b.accelerators);
  EXPECT_EQ(a.submit, b.submit);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.end, b.end);
  expect_hours(a.split, b.split);
  EXPECT_EQ(a.idle_at_zero, b.idle_at_zero);
  EXPECT_EQ(a.low_at_zero, b.low_at_zero);
  EXPECT_EQ(a.metric, b.metric);
  EXPECT_EQ(a.lanes, b.lanes);
}

TEST(JobRows, GivesBackWhatItWasGiven) {
  constexpr std::uint32_t kMany = 100'000;  // Several chunks.
  JobRows rows;
  for (std::uint32_t i = 0; i < kMany; ++i) rows.push_back(job_number(i));
  ASSERT_EQ(rows.size(), kMany);
  EXPECT_EQ(rows.traits().size(), 7U * 3 * 2) << "what jobs have in common is kept once";
  std::uint32_t i = 0;
  for (const FleetJob& job : rows) {
    expect_same(job, job_number(i));
    expect_hours(rows.split(i), job.split);
    EXPECT_EQ(rows.lanes(i), job.lanes);
    EXPECT_EQ(rows.traits()[rows.traits_of(i)].name, job.name);
    if (HasFailure()) break;
    ++i;
  }
}

TEST(JobRows, JobsChangeMoveAndGo) {
  JobRows rows;
  for (std::uint32_t i = 0; i < 40; ++i) rows.push_back(job_number(i));
  rows.set(3, job_number(22));  // Unobserved before, now observed.
  expect_same(rows[3], job_number(22));
  rows.set(22, job_number(4));  // And back.
  expect_same(rows[22], job_number(4));
  rows.clip_to(Nanos{0}, Nanos{std::int64_t{1} << 40});
  rows.set_unobserved(5);
  Split all;
  all.allocated = all.unobserved = to_seconds(Nanos{(std::int64_t{5} << 30) - 6}) * 2.5;
  expect_hours(rows.split(5), all);
  rows.set_lanes(6, 9, 1);
  EXPECT_EQ(rows[6].lane, 9U);
  expect_hours(rows[6].split, job_number(6).split);  // Lanes alone do not change it.
  rows.move(33, 0);
  rows.shrink(2);
  ASSERT_EQ(rows.size(), 2U);
  expect_same(rows[0], job_number(33));
  rows.push_back(job_number(7));
  expect_same(rows.back(), job_number(7));
}

// Whole seconds are packed; whatever does not fit comes back the same.
TEST(JobRows, NumbersThatDoNotFitAreKept) {
  using std::chrono::seconds;
  FleetJob plain;
  plain.id = JobName{1};
  plain.submit = seconds{1'700'000'000};
  plain.start = seconds{1'700'000'060};
  plain.end = seconds{1'700'003'660};
  plain.accelerators = 8;
  std::vector<FleetJob> jobs(12, plain);
  jobs[1].submit = {};
  jobs[2].submit = plain.start + seconds{5};  // A clock that went back.
  jobs[3].start += Nanos{1};
  jobs[4].end += Nanos{1};
  jobs[5].submit -= Nanos{1};
  jobs[6].accelerators = 0.25F;
  jobs[7].accelerators = 65535;
  jobs[8].attempt = 256;
  jobs[9].start = seconds{-5};
  jobs[10].end = plain.start + seconds{std::int64_t{1} << 32};
  jobs[11].submit = plain.start - seconds{std::int64_t{1} << 31};
  JobRows rows;
  for (const FleetJob& job : jobs) rows.push_back(job);
  rows.clip_to(seconds{1'700'000'000}, seconds{1'700'001'060});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SCOPED_TRACE(i);
    const Nanos from = std::max(jobs[i].start, Nanos{seconds{1'700'000'000}});
    const double held = to_seconds(Nanos{seconds{1'700'001'060}} - from) *
                        static_cast<double>(jobs[i].accelerators);
    jobs[i].split.allocated = jobs[i].split.unobserved = held;
    expect_same(rows[i], jobs[i]);
    EXPECT_EQ(rows.start(i), jobs[i].start);
    EXPECT_EQ(rows.accelerators(i), jobs[i].accelerators);
    EXPECT_EQ(rows.attempt(i), jobs[i].attempt);
    EXPECT_EQ(rows.allocated(i), held);
  }
  for (const Nanos end : {plain.end + Nanos{7}, plain.end}) {
    rows.set_end(0, end);
    EXPECT_EQ(rows.end(0), end);
    EXPECT_EQ(rows.start(0), plain.start);
  }
}

TEST(JobIndices, FindNumbersAndWords) {
  Interner words;
  EXPECT_EQ(words[words.intern_job("10000007")], "10000007");
  EXPECT_EQ(words[words.intern_job("007")], "007");
  EXPECT_EQ(words[words.intern_job("9999999999")], "9999999999");
  EXPECT_EQ(words.intern_job(""), JobName::kNone);
  JobIndices indices;
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) {
    names.push_back(std::to_string(1 + i * (i % 3 == 0 ? 1 : 40'009)));
    names.push_back(names.back() + "_" + std::to_string(i));
  }
  for (JobIndex i = 0; i < names.size(); ++i) indices.set(words.intern_job(names[i]), i);
  for (JobIndex i = 0; i < names.size(); ++i) {
    EXPECT_EQ(indices.find(words.find_job(names[i])), i);
    EXPECT_EQ(words[words.find_job(names[i])], names[i]);
  }
  EXPECT_EQ(indices.find(words.find_job("999999999")), kNoJob);
  EXPECT_EQ(indices.find(words.find_job("17_x")), kNoJob);
}

TEST(Interner, OfAnyLengthAreFoundAgain) {
  Interner words;
  std::vector<WordId> ids;
  for (std::size_t size = 0; size < 600; ++size)
    ids.push_back(words.intern(std::string(size, 'x')));
  const std::string huge(1 << 20, 'y');
  const WordId longest = words.intern(huge);
  for (std::size_t size = 0; size < 600; ++size) {
    EXPECT_EQ(words.intern(std::string(size, 'x')), ids[size]);
    EXPECT_EQ(words.find(std::string(size, 'x')), ids[size]);
    EXPECT_EQ(words[ids[size]], std::string(size, 'x'));
  }
  EXPECT_EQ(words[longest], huge);
  EXPECT_EQ(words.find("z"), 0U);
}

}  // namespace
}  // namespace amdahl::scan
