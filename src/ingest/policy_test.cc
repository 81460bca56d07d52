// Rules replayed on the Philly week, against a computation from its raw files that shares no code.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text.h"
#include "bytes/unpack.h"
#include "ingest/testing.h"
#include "scan/actions.h"
#include "scan/families.h"
#include "scan/report.h"

namespace amdahl::ingest {
namespace {

using namespace scan;
using std::chrono::seconds;

constexpr long kFrom = 1507507200;
constexpr long kTo = 1508112000;

std::string text_of(const std::string& file) {
  std::ifstream stream(week_file(file), std::ios::binary);
  std::stringstream packed;
  packed << stream.rdbuf();
  std::string text;
  const auto unpacker = bytes::Unpacker::make(bytes::Packing::kGzip);
  EXPECT_TRUE(unpacker->feed(packed.str(), [&](std::string_view bytes) -> Result<> {
    text += bytes;
    return Ok{};
  }));
  return text;
}

long utc(std::string_view text) {
  std::tm tm{};
  return strptime(std::string(text).c_str(), "%Y-%m-%dT%H:%M:%S", &tm) ? timegm(&tm) : 0;
}

struct RawJob {
  long start = 0;
  long end = 0;
  bool runs = false;  // No end was told.
  std::string state;
  std::vector<std::pair<std::string, std::string>> gpus;
};

std::map<std::string, RawJob> raw_jobs() {
  std::map<std::string, RawJob> jobs;
  const std::string sacct = text_of("sacct.txt.gz");
  for (const std::string_view line : split(sacct, '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() < 18 || cells[0] == "JobID" || cells[0].find('.') != cells[0].npos) continue;
    const long end = utc(cells[10]);
    jobs[std::string(cells[0])] = {
        utc(cells[9]), end == 0 ? kTo : end, end == 0, std::string(cells[5]), {}};
  }
  const std::string places = text_of("gpu_alloc.csv.gz");
  for (const std::string_view line : split(places, '\n')) {
    const auto cells = split(trim(line), ',');
    if (cells.size() != 3 || cells[0] == "jobid") continue;
    const auto job = jobs.find(std::string(cells[0]));
    if (job != jobs.end()) job->second.gpus.emplace_back(cells[1], cells[2]);
  }
  return jobs;
}

struct RawSample {
  long at = 0;
  int percent = 0;
};
using Series = std::span<const RawSample>;  // In order of time, as the file has them.

std::map<std::pair<std::string, std::string>, std::vector<RawSample>> raw_samples() {
  std::map<std::pair<std::string, std::string>, std::vector<RawSample>> samples;
  const std::string text = text_of("dcgm_long.csv.gz");
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(trim(line), ',');
    if (cells.size() != 4 || cells[0] == "timestamp") continue;
    samples[{std::string(cells[1]), std::string(cells[2])}].push_back(
        {*to_number<long>(cells[0]), *to_number<int>(cells[3])});
  }
  return samples;
}

struct Outcome {
  bool is_hit = false;
  bool is_wrong = false;
  double recovered = 0;
  double at_risk = 0;
};

// Sample by sample, which all GPUs have at the same times: when have all been below 5 % for
// `limit`?
Outcome outcome_of(const RawJob& job, const std::vector<Series>& gpus, long limit) {
  std::vector<long> since(gpus.size(), 0);  // 0: not idle.
  Outcome outcome;
  for (std::size_t i = 0; i < gpus[0].size(); ++i) {
    const long at = gpus[0][i].at;
    const bool is_gap = i > 0 && at - gpus[0][i - 1].at > 600;
    long latest = 0;
    bool all = true;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const RawSample& sample = gpus[g][i];
      EXPECT_EQ(sample.at, at);
      if (is_gap) since[g] = 0;
      if (sample.percent >= 5) {
        since[g] = 0;
        outcome.is_wrong = outcome.is_wrong || outcome.is_hit;
        if (outcome.is_hit) outcome.at_risk += 300.0 * sample.percent / 100;
      } else if (since[g] == 0) {
        since[g] = at;
      }
      all = all && since[g] != 0;
      latest = std::max(latest, since[g]);
    }
    if (outcome.is_hit || !all || at - latest < limit) continue;
    outcome.is_hit = true;
    outcome.recovered = static_cast<double>((std::min(job.end, kTo) - latest - limit) *
                                            static_cast<long>(gpus.size()));
  }
  if (outcome.is_wrong) outcome.recovered = 0;
  return outcome;
}

struct Week {
  FleetUsage usage;
  Families families;
  Report report;
};

Week judged_week(ReportOptions options) {
  Options read{.from = seconds(kFrom), .to = seconds(kTo), .idle_below = 0.05};
  for (const char* file : {"dcgm_long.csv.gz", "gpu_alloc.csv.gz", "sacct.txt.gz"}) {
    read.origins.push_back({.where = week_file(file)});
  }
  os::FakeClock clock(seconds(1'800'000'000));
  auto done = read_fleet(read, clock);
  EXPECT_TRUE(done) << done.error().text;
  Ingested ingested = *std::move(done);
  Week week{.usage = std::move(ingested.usage), .families = {}, .report = {}};
  week.families = families_of(week.usage, *Recogniser::make({}));
  week.report = report(week.usage, week.families, {}, options);
  return week;
}

class PhillyPolicy : public testing::Test {
 protected:
  void SetUp() override {
    if (week_file("").empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  }
};

TEST_F(PhillyPolicy, IdleTimeoutsHitWhatTheRawSamplesSay) {
  const Week week = judged_week({.idle_timeout = std::chrono::minutes{90}});
  const std::vector<Replay>& replays = week.report.policies.idle_timeouts;
  ASSERT_EQ(replays.size(), kTimeouts.size() + 1);
  std::vector<std::map<std::string, Outcome>> want(replays.size());
  std::uint64_t judged = 0;
  const auto samples = raw_samples();
  for (const auto& [id, job] : raw_jobs()) {
    std::vector<Series> gpus;
    for (const auto& gpu : job.gpus) {
      const Series all = samples.at(gpu);
      const auto from = std::ranges::lower_bound(all, job.start, {}, &RawSample::at);
      gpus.emplace_back(from, std::ranges::lower_bound(all, job.end, {}, &RawSample::at));
    }
    if (gpus.empty() || std::ranges::any_of(gpus, &Series::empty)) continue;
    ++judged;
    for (std::size_t r = 0; r < replays.size(); ++r) {
      const long limit = std::chrono::duration_cast<seconds>(replays[r].limit).count();
      if (const Outcome one = outcome_of(job, gpus, limit); one.is_hit) want[r][id] = one;
    }
  }
  for (std::size_t r = 0; r < replays.size(); ++r) {
    SCOPED_TRACE(timeout_text(replays[r].limit));
    EXPECT_EQ(replays[r].judged, judged);
    ASSERT_EQ(replays[r].hits.size(), want[r].size());
    for (const Hit& hit : replays[r].hits) {
      const std::string id(week.usage.text(week.usage.jobs.id(hit.job)));
      ASSERT_TRUE(want[r].contains(id)) << id;
      const Outcome& raw = want[r][id];
      EXPECT_EQ(hit.is_wrong, raw.is_wrong) << id;
      EXPECT_NEAR(hit.recovered, raw.recovered, 1e-3) << id;
      // A lane's time is shared out evenly over its samples: an end may be off by one of them.
      EXPECT_NEAR(hit.at_risk, raw.at_risk, 0.05 * raw.at_risk + 700) << id;
    }
  }
  EXPECT_EQ(week.report.policies.idle_timeout()->limit, std::chrono::minutes{90});
}

// A job as the rules for families see it.
struct Seen {
  const RawJob* raw = nullptr;
  std::string id;
  double used = -1;  // GPUs with a sample of 5 % or more; -1: not all were observed.

  double in_window() const {
    return static_cast<double>(std::min(raw->end, kTo) - std::max(raw->start, kFrom));
  }
};

double used_gpus(const RawJob& job, const auto& samples) {
  double used = 0;
  for (const auto& gpu : job.gpus) {
    const Series all = samples.at(gpu);
    const auto from = std::ranges::lower_bound(all, job.start, {}, &RawSample::at);
    const auto to = std::ranges::lower_bound(all, job.end, {}, &RawSample::at);
    if (from == to) return -1;
    used += std::any_of(from, to, [](const RawSample& s) { return s.percent >= 5; }) ? 1 : 0;
  }
  return job.gpus.empty() ? -1 : used;
}

// Those of `jobs` before `at` (by start) that had ended when it began, by their end.
std::vector<const Seen*> ended_before(const std::vector<Seen>& jobs, std::size_t at) {
  std::vector<const Seen*> ended;
  for (std::size_t i = 0; i < at; ++i) {
    if (!jobs[i].raw->runs && jobs[i].raw->end <= jobs[at].raw->start) ended.push_back(&jobs[i]);
  }
  std::ranges::stable_sort(ended, {}, [](const Seen* one) { return one->raw->end; });
  return ended;
}

std::map<std::string, Outcome> right_sized(const std::vector<std::vector<Seen>>& families) {
  std::map<std::string, Outcome> hits;
  for (std::vector<Seen> jobs : families) {
    std::erase_if(jobs, [](const Seen& one) { return one.used < 0; });
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::vector<const Seen*> known = ended_before(jobs, i);
      double most = 0;
      for (const Seen* one : known) most = std::max(most, one->used);
      const auto asked = static_cast<double>(jobs[i].raw->gpus.size());
      if (known.size() < 3 || most >= asked) continue;
      Outcome& hit = hits[jobs[i].id];
      hit.is_wrong = jobs[i].used > most;
      hit.recovered = hit.is_wrong ? 0 : (asked - most) * jobs[i].in_window();
    }
  }
  return hits;
}

std::map<std::string, Outcome> held_failing(const std::vector<std::vector<Seen>>& families) {
  std::map<std::string, Outcome> hits;
  for (std::vector<Seen> jobs : families) {
    std::erase_if(jobs, [](const Seen& one) {
      return one.raw->state != "FAILED" && one.raw->state != "COMPLETED";
    });
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::vector<const Seen*> known = ended_before(jobs, i);
      const auto failed = [](const Seen* one) { return one->raw->state == "FAILED"; };
      const bool is_held = known.size() >= 3 && std::all_of(known.end() - 3, known.end(), failed);
      if (!is_held) continue;
      Outcome& hit = hits[jobs[i].id];
      hit.is_wrong = jobs[i].raw->state != "FAILED";
      const auto gpus = static_cast<double>(jobs[i].raw->gpus.size());
      hit.recovered = hit.is_wrong ? 0 : gpus * jobs[i].in_window();
    }
  }
  return hits;
}

void expect_hits(const Week& week, const Replay& replay,
                 const std::map<std::string, Outcome>& want) {
  EXPECT_GT(replay.hits.size(), 0U);
  EXPECT_GT(replay.wrong(), 0U);
  ASSERT_EQ(replay.hits.size(), want.size());
  for (const Hit& hit : replay.hits) {
    const std::string id(week.usage.text(week.usage.jobs.id(hit.job)));
    ASSERT_TRUE(want.contains(id)) << id;
    EXPECT_EQ(hit.is_wrong, want.at(id).is_wrong) << id;
    EXPECT_NEAR(hit.recovered, want.at(id).recovered, 1e-3) << id;
  }
}

// Only which jobs are one family is taken from the program.
TEST_F(PhillyPolicy, FamilyRulesHitWhatTheRawFilesSay) {
  const Week week = judged_week({});
  const auto raw = raw_jobs();
  const auto samples = raw_samples();
  std::vector<std::vector<Seen>> families(week.families.all.size());
  for (std::uint32_t i = 0; i < week.usage.jobs.size(); ++i) {
    const std::string id(week.usage.text(week.usage.jobs.id(i)));
    const RawJob& job = raw.at(id);
    families[week.families.of_job[i]].push_back({&job, id, used_gpus(job, samples)});
  }
  for (std::vector<Seen>& jobs : families) {
    std::ranges::stable_sort(jobs, {}, [](const Seen& one) { return one.raw->start; });
  }
  expect_hits(week, week.report.policies.right_size, right_sized(families));
  expect_hits(week, week.report.policies.hold_failing, held_failing(families));
}

TEST_F(PhillyPolicy, BillsAddUpAndActionsDoNotOverlap) {
  const Week week = judged_week({.rows = 0, .prices = {.by_default = 2.0}});
  const Report& report = week.report;
  for (const By by : {By::kUser, By::kAccount, By::kPartition}) {
    SCOPED_TRACE(name(by));
    ASSERT_EQ(report.cut(by).rows.size(), report.cut(by).count);
    Split split;
    double lost = 0;
    double recoverable = 0;
    double usd = 0;
    std::uint64_t jobs = 0;
    for (const Row& row : report.cut(by).rows) {
      split += row.split;
      lost += row.lost;
      recoverable += row.recoverable;
      usd += row.money->allocated;
      jobs += row.jobs;
    }
    EXPECT_EQ(jobs, report.totals.jobs);
    EXPECT_NEAR(split.allocated, report.totals.split.allocated, 1);
    EXPECT_NEAR(split.allocated / 3600, 98203.8978, 1e-3);
    EXPECT_NEAR(split.productive, report.totals.split.productive, 1);
    EXPECT_NEAR(wasted(split), wasted(report.totals.split), 1);
    EXPECT_NEAR(lost, report.totals.lost, 1);
    EXPECT_NEAR(recoverable, report.totals.recoverable, 1);
    EXPECT_NEAR(usd, 2.0 * 98203.8978, 1e-2);
  }
  ASSERT_FALSE(report.actions.empty());
  double wasted_in_all = 0;
  std::set<std::string_view> ids;
  for (const Action& action : report.actions) {
    ids.insert(action.id);
    EXPECT_LE(action.lower, action.recovered) << action.id;
    EXPECT_LE(action.recovered, action.upper) << action.id;
    EXPECT_LE(action.upper, action.wasted * (1 + 1e-9)) << action.id;
    ASSERT_TRUE(action.usd) << action.id;
    EXPECT_NEAR(*action.usd, 2 * action.recovered / 3600, 1e-3 * *action.usd + 1e-6) << action.id;
    if (action.id != "stop-failing-early") wasted_in_all += action.wasted;
  }
  EXPECT_TRUE(ids.contains("end-idle-sessions"));
  EXPECT_LE(wasted_in_all, wasted(report.totals.split) * (1 + 1e-6));
  EXPECT_TRUE(report.actions.front().is_confirmed);
  const Goodput& good = report.goodput;
  ASSERT_TRUE(good.scheduling && good.program && good.total);
  EXPECT_NEAR(*good.total, *good.scheduling * good.runtime * *good.program, 1e-12);
  EXPECT_NEAR(1 - good.runtime, 0.155841, 1e-6) << "the corpus' share of failed jobs";
}

TEST_F(PhillyPolicy, FailuresAreByExitCode) {
  const Week week = judged_week({});
  const std::string sacct = text_of("sacct.txt.gz");
  std::map<std::string, std::uint64_t> want;
  for (const std::string_view line : split(sacct, '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() < 18 || cells[0].find('.') != cells[0].npos) continue;
    if (cells[5] != "FAILED" && cells[5] != "TIMEOUT") continue;
    const auto code = split(cells[6], ':');
    const std::string reason = code[1] != "0"   ? "signal " + std::string(code[1])
                               : code[0] != "0" ? "exit " + std::string(code[0])
                                                : "";
    ++want[std::string(cells[5]) + " " + reason];
  }
  std::map<std::string, std::uint64_t> got;
  double allocated = 0;
  for (const Failure& one : week.report.failures) {
    got[std::string(one.state) + " " + one.reason] = one.jobs;
    allocated += one.allocated;
  }
  EXPECT_EQ(got, want);
  EXPECT_NEAR(allocated, week.report.totals.lost, 1);
}

}  // namespace
}  // namespace amdahl::ingest
