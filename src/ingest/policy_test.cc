// Rules replayed on the Philly week, against a computation from its raw files that shares no code.
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
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

std::string corpus(const std::string& file) {
  const char* root = std::getenv("AMDAHL_CORPUS");
  return root ? std::string(root) + "/fleet/philly_synth_week/" + file : std::string();
}

std::string text_of(const std::string& file) {
  std::ifstream stream(corpus(file), std::ios::binary);
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

using Series = std::map<long, int>;  // Time to percent.

std::map<std::pair<std::string, std::string>, Series> raw_samples() {
  std::map<std::pair<std::string, std::string>, Series> samples;
  const std::string text = text_of("dcgm_long.csv.gz");
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(trim(line), ',');
    if (cells.size() != 4 || cells[0] == "timestamp") continue;
    samples[{std::string(cells[1]), std::string(cells[2])}][*to_number<long>(cells[0])] =
        *to_number<int>(cells[3]);
  }
  return samples;
}

struct Outcome {
  bool is_hit = false;
  bool is_wrong = false;
  double recovered = 0;
  double at_risk = 0;
};

// Sample by sample: when have all GPUs been below 5 % for `limit`?
Outcome outcome_of(const RawJob& job, const std::vector<Series>& gpus, long limit) {
  std::vector<long> since(gpus.size(), 0);  // 0: not idle.
  std::vector<long> last(gpus.size(), 0);
  Outcome outcome;
  for (const auto& [at, _] : gpus[0]) {
    long latest = 0;
    bool all = true;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const auto sample = gpus[g].find(at);
      if (sample == gpus[g].end()) {
        all = false;
        continue;
      }
      if (last[g] != 0 && at - last[g] > 600) since[g] = 0;
      last[g] = at;
      if (sample->second >= 5) {
        since[g] = 0;
        if (outcome.is_hit) outcome.is_wrong = true;
        if (outcome.is_hit) outcome.at_risk += 300.0 * sample->second / 100;
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

Week read_week(ReportOptions options) {
  Options read{.from = seconds(kFrom), .to = seconds(kTo), .idle_below = 0.05};
  for (const char* file : {"dcgm_long.csv.gz", "gpu_alloc.csv.gz", "sacct.txt.gz"}) {
    read.origins.push_back({.where = corpus(file)});
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
    if (corpus("").empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  }
};

TEST_F(PhillyPolicy, IdleTimeoutsHitWhatTheRawSamplesSay) {
  const Week week = read_week({.idle_timeout = std::chrono::minutes{60}});
  const auto jobs = raw_jobs();
  auto samples = raw_samples();
  for (const Replay& replay : week.report.policies.idle_timeouts) {
    SCOPED_TRACE(timeout_text(replay.limit));
    const long limit = std::chrono::duration_cast<seconds>(replay.limit).count();
    std::map<std::string, Outcome> want;
    std::uint64_t judged = 0;
    for (const auto& [id, job] : jobs) {
      std::vector<Series> gpus;
      for (const auto& gpu : job.gpus) {
        const Series& all = samples[gpu];
        gpus.emplace_back(all.lower_bound(job.start), all.lower_bound(job.end));
      }
      const bool is_seen = !gpus.empty() && std::ranges::none_of(gpus, &Series::empty);
      judged += is_seen ? 1 : 0;
      if (!is_seen) continue;
      if (const Outcome one = outcome_of(job, gpus, limit); one.is_hit) want[id] = one;
    }
    EXPECT_EQ(replay.judged, judged);
    ASSERT_EQ(replay.hits.size(), want.size());
    double recovered = 0;
    std::uint64_t wrong = 0;
    for (const Hit& hit : replay.hits) {
      const std::string id(week.usage.text(week.usage.jobs.id(hit.job)));
      ASSERT_TRUE(want.contains(id)) << id;
      EXPECT_EQ(hit.is_wrong, want[id].is_wrong) << id;
      EXPECT_NEAR(hit.recovered, want[id].recovered, 1e-3) << id;
      // A lane's time is shared out evenly over its samples: an end may be off by one of them.
      EXPECT_NEAR(hit.at_risk, want[id].at_risk, 0.05 * want[id].at_risk + 700) << id;
      recovered += want[id].recovered;
      wrong += want[id].is_wrong ? 1 : 0;
    }
    EXPECT_NEAR(replay.recovered(), recovered, 1);
    EXPECT_EQ(replay.wrong(), wrong);
    RecordProperty("recovered_h_" + timeout_text(replay.limit), std::to_string(recovered / 3600));
  }
  EXPECT_EQ(week.report.policies.idle_timeout()->limit, std::chrono::minutes{60});
}

TEST_F(PhillyPolicy, BillsAddUpAndActionsDoNotOverlap) {
  const Week week = read_week({.rows = 0, .prices = {.by_default = 2.0}});
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
  const Week week = read_week({});
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
