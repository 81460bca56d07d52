#include "scan/policy.h"

#include <gtest/gtest.h>

#include "scan/alerts.h"
#include "scan/base_rate.h"
#include "scan/mail.h"
#include "scan/report.h"
#include "scan/test_fleet.h"
#include "scan/usage_accumulator.h"

namespace amdahl::scan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Nanos kPolicyStart = hours{400'000};
const Stop kGoOn{nullptr};

// A job of several accelerators, each a list of {minutes, percent}, sampled every five minutes.
using Course = std::vector<std::pair<int, float>>;

struct Told {
  std::string_view id = "1";
  std::vector<Course> lanes;
  int from = 0;  // Minutes.
  std::string_view name = "train";
  model::JobState state = model::JobState::kCompleted;
};

int length_of(const Course& course) {
  int all = 0;
  for (const auto& [length, _] : course) all += length;
  return all;
}

FleetUsage policy_fleet(const std::vector<Told>& jobs) {
  UsageAccumulator sums({.idle_below = 0.05});
  for (const Told& told : jobs) {
    model::JobDraft job;
    job.id = told.id;
    job.name = told.name;
    job.user = "ada";
    job.kind = "a100";
    job.state = told.state;
    job.start = kPolicyStart + minutes{told.from};
    job.submit = job.start - minutes{30};
    job.end = job.start + minutes{length_of(told.lanes[0])};
    job.accelerators = static_cast<double>(told.lanes.size());
    sums.job(job, {});
  }
  for (const Told& told : jobs) {
    for (std::size_t lane = 0; lane < told.lanes.size(); ++lane) {
      const std::string device = std::to_string(lane);
      const auto series = sums.series({.host = told.id,
                                       .accelerator = device,
                                       .uuid = {},
                                       .slice = {},
                                       .job = told.id,
                                       .metric = "DCGM_FI_DEV_GPU_UTIL",
                                       .kind = {}});
      int at = told.from;
      for (const auto& [length, value] : told.lanes[lane]) {
        for (int m = 0; m < length; m += 5) {
          const fleet::Sample sample{kPolicyStart + minutes{at + m}, value};
          if (value >= 0) sums.samples(series, {&sample, 1});
        }
        at += length;
      }
    }
  }
  return std::move(sums).finish();
}

Replay replayed(const FleetUsage& usage, minutes limit) {
  return replay_idle_timeouts(usage, {limit}, kGoOn).front();
}

TEST(Policy, AnIdleTimeoutEndsWhatIsIdleAndFreesTheRest) {
  // Works for an hour, then idle for four.
  const FleetUsage usage = policy_fleet({{.lanes = {{{60, 90}, {240, 0}}}}});
  const Replay replay = replayed(usage, minutes{60});
  ASSERT_EQ(replay.hits.size(), 1U);
  EXPECT_EQ(replay.hits[0].at, kPolicyStart + minutes{120});
  EXPECT_FALSE(replay.hits[0].is_wrong);
  EXPECT_DOUBLE_EQ(replay.recovered(), 180 * 60);
  EXPECT_EQ(replay.users(usage), 1U);
  EXPECT_TRUE(replayed(usage, minutes{240}).hits.empty()) << "the last sample is at 235 minutes";
}

TEST(Policy, AHitIsWrongIfTheJobWorksAgain) {
  const FleetUsage usage = policy_fleet({{.lanes = {{{60, 90}, {120, 0}, {60, 50}}}}});
  const Replay replay = replayed(usage, minutes{60});
  ASSERT_EQ(replay.hits.size(), 1U);
  EXPECT_TRUE(replay.hits[0].is_wrong);
  EXPECT_EQ(replay.recovered(), 0);
  EXPECT_NEAR(replay.at_risk(), 30 * 60, 1e-6);
}

TEST(Policy, AllAcceleratorsMustBeIdleAtOnce) {
  const Course first = {{120, 0}, {120, 90}};
  const Course second = {{120, 90}, {120, 0}};
  EXPECT_TRUE(replayed(policy_fleet({{.lanes = {first, second}}}), minutes{30}).hits.empty());
  // They overlap for an hour, from minute 60 on.
  const Course early = {{60, 90}, {180, 0}};
  const Course late = {{120, 0}, {120, 90}};
  const Replay replay = replayed(policy_fleet({{.lanes = {early, late}}}), minutes{30});
  ASSERT_EQ(replay.hits.size(), 1U);
  EXPECT_EQ(replay.hits[0].at, kPolicyStart + minutes{90});
  EXPECT_TRUE(replay.hits[0].is_wrong);
}

TEST(Policy, AGapEndsASpellAndAnUnobservedAcceleratorIsNotJudged) {
  // Nothing is known of 60 minutes in between.
  const FleetUsage gap = policy_fleet({{.lanes = {{{40, 0}, {60, -1}, {40, 0}}}}});
  EXPECT_TRUE(replayed(gap, minutes{60}).hits.empty());
  EXPECT_EQ(replayed(gap, minutes{30}).hits.size(), 1U);
  const FleetUsage dark = policy_fleet({{.lanes = {{{240, 0}}, {{240, -1}}}}});
  EXPECT_EQ(replayed(dark, minutes{60}).judged, 0U);
}

TEST(Policy, RightSizingLearnsFromEarlierJobsOfTheFamily) {
  const Course busy = {{60, 90}};
  const Course idle = {{60, 0}};
  std::vector<Told> jobs;
  const std::string_view ids[] = {"1", "2", "3", "4", "5", "6"};
  for (int i = 0; i < 6; ++i) {
    const bool uses_all = i == 5;
    jobs.push_back({.id = ids[i], .lanes = {busy, uses_all ? busy : idle}, .from = 100 * i});
  }
  const FleetUsage usage = policy_fleet(jobs);
  const Families families = families_of(usage, *Recogniser::make({}));
  const Replay replay = replay_right_size(usage, families, kGoOn);
  EXPECT_EQ(replay.judged, 3U) << "three jobs are history";
  ASSERT_EQ(replay.hits.size(), 3U);
  EXPECT_EQ(replay.wrong(), 1U);
  EXPECT_EQ(replay.hits[0].accelerators, 1);
  EXPECT_DOUBLE_EQ(replay.recovered(), 2 * 60 * 60);
}

TEST(Policy, JobsAreHeldAfterThreeFailuresInARow) {
  using model::JobState;
  std::vector<Told> jobs;
  const std::string_view ids[] = {"1", "2", "3", "4", "5", "6"};
  const JobState states[] = {JobState::kFailed, JobState::kFailed,    JobState::kFailed,
                             JobState::kFailed, JobState::kCompleted, JobState::kFailed};
  for (int i = 0; i < 6; ++i) {
    jobs.push_back(
        {.id = ids[i], .lanes = {{{60, 90}}}, .from = 100 * i, .name = "x", .state = states[i]});
  }
  const FleetUsage usage = policy_fleet(jobs);
  const Replay replay =
      replay_hold_failing(usage, families_of(usage, *Recogniser::make({})), kGoOn);
  ASSERT_EQ(replay.hits.size(), 2U) << "the fourth and the fifth";
  EXPECT_EQ(replay.wrong(), 1U);
  EXPECT_DOUBLE_EQ(replay.recovered(), 3600);
}

TEST(Policy, IsReadAsPeopleTypeIt) {
  EXPECT_EQ(*parse_policy("idle-timeout=60m"), minutes{60});
  EXPECT_EQ(*parse_policy("idle-timeout=2h"), minutes{120});
  EXPECT_EQ(*parse_policy("idle-timeout=1d"), hours{24});
  for (const char* bad : {"", "idle-timeout", "idle-timeout=", "idle-timeout=5m", "idle-timeout=60",
                          "idle-timeout=99d", "idle=60m"}) {
    EXPECT_FALSE(parse_policy(bad)) << bad;
  }
  for (const minutes limit : kTimeouts) {
    EXPECT_EQ(*parse_policy("idle-timeout=" + timeout_text(limit)), limit);
  }
}

TEST(Policy, TheQueueIsComparedWithWhatIsIdleAtThatMinute) {
  // Job 2 waits 30 minutes for one accelerator, 100 to 130, while job 1 holds one idle from 60 on.
  const FleetUsage usage = policy_fleet({{.id = "1", .lanes = {{{60, 90}, {240, 0}}}},
                                         {.id = "2", .lanes = {{{60, 90}}}, .from = 130}});
  const auto waiting = waiting_of(usage, kGoOn);
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].kind, "a100");
  // Job 1 waited before the window began.
  EXPECT_DOUBLE_EQ(waiting[0].queued, 30 * 60);
  EXPECT_DOUBLE_EQ(waiting[0].while_idle, 30 * 60);
}

TEST(Policy, MailsAndAlertsNameWhatWasFound) {
  const FleetUsage usage = policy_fleet({{.id = "77", .lanes = {{{60, 90}, {600, 0}}}}});
  const Report report =
      scan::report(usage, families_of(usage, *Recogniser::make({})), {}, {.scan = "amdahl scan a"});
  ASSERT_FALSE(report.actions.empty());
  EXPECT_EQ(report.actions[0].id, "end-idle-sessions");
  EXPECT_TRUE(report.actions[0].is_confirmed);
  EXPECT_EQ(report.actions[0].users, 1U);
  const auto mails = mails_of(usage, report, "amdahl scan a");
  ASSERT_EQ(mails.size(), 1U);
  const FleetUsage good = policy_fleet({{.id = "78", .lanes = {{{3000, 96}}}}});
  EXPECT_TRUE(mails_of(good, report, "amdahl scan a").empty())
      << "nobody is told to use 96 % better";
  EXPECT_EQ(mails[0].file, "ada.txt");
  EXPECT_NE(mails[0].text.find("amdahl scan a --job 77"), std::string::npos) << mails[0].text;
  const auto rules = alert_rules(report);
  ASSERT_TRUE(rules) << rules.error().text;
  EXPECT_NE(rules->find("max_over_time(DCGM_FI_DEV_GPU_UTIL{hpc_job!=\"\"}[30m])) <= 5"),
            std::string::npos)
      << *rules;
  EXPECT_FALSE(alert_rules(Fleet().report())) << "nothing was observed";
}

// Each job starts up for half an hour, however long it runs: a shorter one wastes a larger share,
// and could do no better than the others.
TEST(Actions, AStartThatTakesEachJobAsLongPromisesNothing) {
  std::vector<Told> jobs;
  const std::string_view ids[] = {"1", "2", "3", "4", "5", "6"};
  const int lengths[] = {60, 90, 120, 180, 240, 280};
  for (int i = 0; i < 6; ++i) {
    jobs.push_back({.id = ids[i], .lanes = {{{30, 0}, {lengths[i], 100}}}, .from = 400 * i});
  }
  const FleetUsage usage = policy_fleet(jobs);
  const Report report = scan::report(usage, families_of(usage, *Recogniser::make({})), {}, {});
  const auto start =
      std::ranges::find(report.actions, "shorten-start-and-checkpoints", &Action::id);
  ASSERT_NE(start, report.actions.end());
  EXPECT_NEAR(start->wasted, 6 * 30 * 60, 1);
  EXPECT_LT(start->confidence.upper, 0.01);
}

TEST(Actions, EndJobsWithTheirOwnScheduler) {
  model::JobDraft job;
  job.state = model::JobState::kRunning;
  job.start = kPolicyStart;
  job.elapsed = minutes{600};
  job.accelerators = 1;
  job.user = "ada";
  UsageAccumulator sums({.idle_below = 0.05});
  for (const std::string_view cluster : {"alpha", "beta"}) {
    job.id = "7";
    job.cluster = cluster;
    job.hosts = cluster;
    sums.job(job, {});
    const auto series = sums.series({.host = cluster,
                                     .accelerator = "0",
                                     .uuid = {},
                                     .slice = {},
                                     .job = "7",
                                     .metric = "DCGM_FI_DEV_GPU_UTIL",
                                     .kind = {}});
    for (int at = 0; at < 600; at += 5) {
      const fleet::Sample sample{kPolicyStart + minutes{at}, 0};
      sums.samples(series, {&sample, 1});
    }
    job.elapsed = minutes{590};  // The first recovers more.
  }
  const FleetUsage usage = std::move(sums).finish();
  const Families families = families_of(usage, *Recogniser::make({}));
  const Report slurm = scan::report(usage, families, {}, {});
  ASSERT_FALSE(slurm.actions.empty());
  EXPECT_EQ(slurm.actions[0].command, "scancel -M alpha 7");
  EXPECT_TRUE(slurm.actions[0].because.ends_with("; 2 still run")) << slurm.actions[0].because;
  EXPECT_EQ(scan::report(usage, families, {}, {.end_jobs = "bkill"}).actions[0].command, "bkill 7");
}

TEST(BaseRate, HasTheIntervalOfItsCounts) {
  const BaseRate rate = counted_rate(600, 706, "");
  EXPECT_NEAR(rate.mean, 0.8499, 1e-4);
  EXPECT_NEAR(rate.lower, 0.8217, 1e-3);  // Wilson's interval.
  EXPECT_NEAR(rate.upper, 0.8743, 1e-3);
  EXPECT_EQ(counted_rate(0, 0, "").upper, 1);
}

}  // namespace
}  // namespace amdahl::scan
