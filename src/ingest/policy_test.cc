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
  std::vector<std::pair<std::string, std::string>> gpus;
};

std::map<std::string, RawJob> raw_jobs() {
  std::map<std::string, RawJob> jobs;
  const std::string sacct = text_of("sacct.txt.gz");
  for (const std::string_view line : split(sacct, '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() < 18 || cells[0] == "JobID" || cells[0].find('.') != cells[0].npos) continue;
    const long end = utc(cells[10]);
    jobs[std::string(cells[0])] = {utc(cells[9]), end == 0 ? kTo : std::min(end, kTo), {}};
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
    outcome.recovered =
        static_cast<double>((job.end - latest - limit) * static_cast<long>(gpus.size()));
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
