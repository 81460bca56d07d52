// Jobs that share a number: of several clusters, or on other hosts.
#include "scan/job_table.h"

#include <gtest/gtest.h>

#include "scan/usage_testing.h"

namespace amdahl::scan {
namespace {

using model::JobDraft;
using model::Trouble;
using std::chrono::seconds;

const Window kHour{kStart, kStart + seconds(3600)};

JobDraft draft(std::string_view id, int from, int to) {
  JobDraft job;
  job.id = id;
  job.user = "ada";
  job.state = model::JobState::kCompleted;
  job.start = kStart + seconds(from);
  job.end = kStart + seconds(to);
  job.accelerators = 1;
  return job;
}

// Every ten seconds of [from, to), labelled with job 7.
void give_all(UsageAccumulator& sums, std::string_view host, int from, int to, float value) {
  const fleet::SeriesId id = sums.series({.host = host,
                                          .accelerator = "0",
                                          .uuid = {},
                                          .slice = {},
                                          .job = "7",
                                          .metric = "DCGM_FI_DEV_GPU_UTIL",
                                          .kind = {}});
  for (int at = from; at < to; at += 10) {
    const fleet::Sample sample{kStart + seconds(at), value};
    sums.samples(id, {&sample, 1});
  }
}

FleetJob job_of(const FleetUsage& usage, std::string_view id) {
  for (const FleetJob& job : usage.jobs) {
    if (usage.text(job.id) == id) return job;
  }
  ADD_FAILURE() << "no job " << id;
  return {};
}

// Each cluster numbers its jobs on its own: the same number, user and size at the same time.
TEST(JobTable, TwoClustersUseTheSameNumber) {
  UsageAccumulator sums({.window = kHour});
  JobDraft alpha = draft("7", 0, 100);
  alpha.cluster = "alpha";
  alpha.hosts = "h1";
  JobDraft beta = draft("7", 50, 150);
  beta.cluster = "beta";
  beta.hosts = "h2";
  JobDraft alone = draft("8", 0, 100);
  alone.cluster = "beta";
  for (const JobDraft& job : {alpha, beta, alone, beta}) sums.job(job, {});
  give_all(sums, "h1", 0, 100, 100);
  give_all(sums, "h2", 50, 150, 0);
  const FleetUsage usage = std::move(sums).finish();
  ASSERT_EQ(usage.jobs.size(), 3U);
  EXPECT_EQ(job_of(usage, "7/alpha").split.productive, 100);
  EXPECT_EQ(job_of(usage, "7/beta").split.idle, 100);
  EXPECT_EQ(job_of(usage, "8").attempt, 0);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
  EXPECT_EQ(count_of(usage, Trouble::kRequeued), 0U);
}

// Nothing names the clusters, but the jobs ran on other hosts.
TEST(JobTable, TheSameNumberOnOtherHostsIsAnotherJob) {
  UsageAccumulator sums({.window = kHour});
  JobDraft one = draft("7", 0, 100);
  one.hosts = "h[1-2]";
  JobDraft other = draft("7", 50, 150);
  other.hosts = "h3";
  JobDraft again = draft("7", 0, 100);
  again.hosts = "H2.example.org,h1";
  for (const JobDraft& job : {one, other, again}) sums.job(job, {});
  EXPECT_EQ(sums.counts().jobs, 2U);
  const FleetUsage usage = std::move(sums).finish();
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
}

}  // namespace
}  // namespace amdahl::scan
