// The figures of the reference fleets, from their files to the report.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "ingest/ingest.h"
#include "os/fake/fake_clock.h"
#include "scan/family.h"
#include "scan/parts.h"
#include "scan/report.h"

namespace amdahl::ingest {
namespace {

using namespace scan;

using nlohmann::json;

std::string corpus_folder() {
  const char* folder = std::getenv("AMDAHL_CORPUS");
  return folder == nullptr ? "" : folder;
}

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(corpus_folder() + "/expected/fleet")) {
      GTEST_SKIP() << "AMDAHL_CORPUS names no folder that holds expected/fleet";
    }
  }
};

json expected(const std::string& name) {
  return json::parse(std::ifstream(corpus_folder() + "/expected/fleet/" + name + ".json"));
}

FleetUsage usage_of(const std::vector<std::string>& files, Options options = {}) {
  for (const std::string& file : files) {
    options.origins.push_back({.where = corpus_folder() + "/fleet/" + file});
  }
  os::FakeClock clock(std::chrono::seconds(1'800'000'000));
  auto read = read_fleet(options, clock);
  if (read) return (*std::move(read)).usage;
  ADD_FAILURE() << read.error().text;
  return {};
}

Report report_of(const FleetUsage& usage, Order order) {
  return report(usage, families_of(usage, *Recogniser::make({})), {}, {.rows = 25, .order = order});
}

// The figures have so many places behind the point; beyond them 1e-6 of the value.
void expect_places(double got, const json& want, int places = 4) {
  const double value = want.get<double>();
  EXPECT_NEAR(got, value, 1e-6 * std::abs(value) + 0.51 * std::pow(10.0, -places));
}

void expect_top(const Pareto& pareto, const json& want) {
  constexpr const char* kNames[] = {"top_0.1pct", "top_1pct", "top_5pct", "top_10pct", "top_20pct"};
  for (std::size_t i = 0; i < 5; ++i) {
    SCOPED_TRACE(kNames[i]);
    expect_places(pareto.top[i], want[kNames[i]], 6);
  }
}

std::string id_of(const json& id) {
  return id.is_string() ? id.get<std::string>() : std::to_string(id.get<std::int64_t>());
}

// The same names in the same order, with the same hours.
template <class HoursOf>
void expect_rows(const Cut& cut, const json& want, HoursOf hours_of) {
  ASSERT_GE(cut.rows.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(cut.rows[i].name, id_of(want[i][0])) << name(cut.by) << " " << i;
    expect_places(in_hours(hours_of(cut.rows[i])), want[i][1]);
  }
}
double wasted_in(const Row& row) { return wasted(row.split); }
double allocated_in(const Row& row) { return row.split.allocated; }

void expect_states(const Report& report, const json& want) {
  for (const Row& row : report.cut(By::kState).rows) {
    ASSERT_TRUE(want.contains(row.name)) << row.name;
    expect_places(in_hours(row.split.allocated), want[row.name]);
  }
  EXPECT_EQ(report.cut(By::kState).count, want.size());
}

FleetUsage philly_week(double idle_below) {
  const json want = expected("philly_synth_week");
  Options options;
  options.from = std::chrono::seconds{want["window_utc"][0].get<std::int64_t>()};
  options.to = std::chrono::seconds{want["window_utc"][1].get<std::int64_t>()};
  options.idle_below = idle_below;
  return usage_of({"philly_synth_week/sacct.txt.gz", "philly_synth_week/gpu_alloc.csv.gz",
                   "philly_synth_week/dcgm_long.csv.gz"},
                  options);
}

TEST_F(Corpus, PhillySynthWeek) {
  const json want = expected("philly_synth_week");
  const FleetUsage usage = philly_week(0);
  const Report report = report_of(usage, Order::kWasted);
  const Totals& totals = report.totals;
  EXPECT_EQ(totals.jobs, want["jobs"].get<std::uint64_t>());
  EXPECT_EQ(totals.users, want["users"].get<std::uint64_t>());
  EXPECT_EQ(totals.accounts, want["accounts"].get<std::uint64_t>());
  EXPECT_EQ(totals.unobserved_jobs, want["jobs_fully_unobserved"].get<std::uint64_t>());
  expect_places(in_hours(totals.split.allocated), want["gpu_hours"]);
  expect_places(in_hours(totals.split.unobserved), want["unobserved_gpu_hours"]);
  expect_places(in_hours(totals.split.idle), want["split_idle_eq_0"]["idle"]);
  expect_places(in_hours(totals.split.low), want["split_idle_eq_0"]["low_util_loss"]);
  expect_places(in_hours(totals.split.productive), want["split_idle_eq_0"]["productive"]);
  expect_places(in_hours(totals.queue), want["queue_gpu_hours"], 3);
  expect_places(totals.lost / totals.split.allocated,
                want["failed_share_(FAILED+TIMEOUT+NODE_FAIL)"], 6);
  expect_places(100 * *report.utilisation.mean, want["util_weighted_mean_pct"]);
  expect_places(100 * *report.utilisation.median, want["util_weighted_median_pct"]);
  ASSERT_EQ(report.utilisation.metrics.size(), 1U);
  EXPECT_EQ(report.utilisation.metrics[0].name, "DCGM_FI_DEV_GPU_UTIL");
  expect_states(report, want["gpu_hours_by_state"]);
  expect_top(report.cut(By::kJob).wasted, want["pareto_waste_by_job"]);
  expect_top(report.cut(By::kUser).wasted, want["pareto_waste_by_user"]);
  expect_rows(report.cut(By::kJob), want["top20_jobs_by_waste"], wasted_in);
  expect_rows(report.cut(By::kUser), want["top10_users_by_waste"], wasted_in);
  expect_rows(report.cut(By::kAccount), want["top5_accounts_by_waste"], wasted_in);
}

TEST_F(Corpus, PhillySynthWeekIdleBelowFivePercent) {
  const json want = expected("philly_synth_week")["split_idle_lt_5pct"];
  const Totals totals = report_of(philly_week(0.05), Order::kWasted).totals;
  expect_places(in_hours(totals.split.idle), want["idle"]);
  expect_places(in_hours(totals.split.low), want["low_util_loss"]);
}

// The parts of every job are its waste, whatever its telemetry looks like.
TEST_F(Corpus, PhillySynthWeekPartsAddUp) {
  const FleetUsage usage = philly_week(0.05);
  PartSeconds all{};
  double waste = 0;
  for (const FleetJob& job : usage.jobs) {
    const PartSeconds parts = part_seconds(lines_of(usage, job));
    double sum = 0;
    for (std::size_t k = 0; k < kPartKinds; ++k) {
      ASSERT_GE(parts[k], 0);
      all[k] += parts[k];
      sum += parts[k];
    }
    ASSERT_NEAR(sum, wasted(job.split), 1e-6 * job.split.allocated) << usage.text(job.id);
    waste += wasted(job.split);
  }
  EXPECT_GT(waste, 0);
  // Its jobs are 10 names of 421 users, most of them long; all but little of it can be placed.
  EXPECT_LT(all[index(PartKind::kUnplaced)], 0.1 * waste);
  for (std::size_t k = 0; k < kPartKinds; ++k) {
    RecordProperty(std::string(name(static_cast<PartKind>(k))), std::to_string(all[k] / 3600));
  }
}

TEST_F(Corpus, PhillySynthWeekEveryCutAddsUp) {
  const FleetUsage usage = philly_week(0.05);
  const Report report =
      scan::report(usage, families_of(usage, *Recogniser::make({})), {}, {.rows = 0});
  const Totals& totals = report.totals;
  EXPECT_LT(totals.recoverable, wasted(totals.split));
  for (const Cut& cut : report.cuts) {
    SCOPED_TRACE(name(cut.by));
    Split split;
    double recoverable = 0;
    for (const Row& row : cut.rows) {
      split += row.split;
      recoverable += row.recoverable;
      EXPECT_LE(row.recoverable, wasted(row.split) * (1 + 1e-9)) << row.name;
    }
    const double off = 1e-6 * totals.split.allocated;
    EXPECT_NEAR(split.allocated, totals.split.allocated, off);
    EXPECT_NEAR(split.unobserved, totals.split.unobserved, off);
    EXPECT_NEAR(split.idle, totals.split.idle, off);
    EXPECT_NEAR(split.low, totals.split.low, off);
    EXPECT_NEAR(split.productive, totals.split.productive, off);
    EXPECT_NEAR(recoverable, totals.recoverable, off);
  }
  EXPECT_EQ(report.cut(By::kNode).count, 88U);
  Split sliced;
  for (const Slice& slice : report.slices) sliced += slice.split;
  EXPECT_NEAR(sliced.idle, totals.split.idle, 1e-5 * totals.split.idle);
  EXPECT_NEAR(sliced.allocated, totals.split.allocated, 1e-6 * totals.split.allocated);
}

TEST_F(Corpus, PhillySynthWeekFamilies) {
  const FleetUsage usage = philly_week(0.05);
  const Families families = families_of(usage, *Recogniser::make({}));
  // Ten names; a family is one of them, by one user, at one size.
  std::set<std::string> names;
  for (const Family& family : families.all)
    names.insert(family.what.substr(0, family.what.find(',')));
  EXPECT_EQ(names.size(), 10U);
  EXPECT_TRUE(names.contains("jobs named resnet50"));
}

TEST_F(Corpus, AlexJobs) {
  const json want = expected("alex_jobs");
  const Report report =
      report_of(usage_of({"alex/alex_jobs.csv"}, {.idle_below = 0}), Order::kWasted);
  EXPECT_EQ(report.totals.jobs, want["n_jobs"].get<std::uint64_t>());
  EXPECT_EQ(report.totals.users, want["users"].get<std::uint64_t>());
  EXPECT_EQ(report.totals.queue_unknown_jobs, report.totals.jobs);
  expect_places(in_hours(report.totals.split.allocated), want["gpu_hours"]);
  expect_places(in_hours(wasted(report.totals.split)), want["waste_gpu_hours"]);
  expect_places(in_hours(report.totals.split.idle), want["zero_util_gpu_hours"]);
  expect_places(100 * *report.utilisation.mean, want["util_mean_gpuh_weighted_pct"]);
  expect_places(100 * *report.utilisation.median, want["util_median_gpuh_weighted_pct"]);
  for (const Row& row : report.cut(By::kKind).rows) {
    expect_places(in_hours(row.split.allocated), want["gpu_hours_by_subcluster"][row.name]);
  }
  expect_top(report.cut(By::kJob).wasted, want["pareto_waste_by_job"]);
  expect_top(report.cut(By::kUser).wasted, want["pareto_waste_by_user"]);
  expect_rows(report.cut(By::kJob), want["top10_jobs_by_waste"], wasted_in);
  expect_rows(report.cut(By::kUser), want["top5_users_by_waste"], wasted_in);
}

TEST_F(Corpus, UioFox) {
  const json want = expected("uio_fox_sacct");
  const FleetUsage usage = usage_of({"uio_fox/slurm-sacct_2025-05-03.csv"});
  const Report report = report_of(usage, Order::kRecoverable);
  EXPECT_EQ(report.totals.jobs, want["gpu_jobs"].get<std::uint64_t>());
  EXPECT_EQ(report.totals.users, want["users"].get<std::uint64_t>());
  EXPECT_EQ(report.totals.unobserved_jobs, report.totals.jobs);
  expect_places(in_hours(report.totals.split.allocated), want["gpu_hours"]);
  expect_places(in_hours(report.totals.queue), want["queue_gpu_hours"]);
  expect_places(report.totals.lost / report.totals.split.allocated,
                want["failed_like_share_(FAILED+TIMEOUT+NODE_FAIL+OUT_OF_MEMORY)"], 6);
  expect_states(report, want["gpu_hours_by_state"]);
  expect_top(report.cut(By::kJob).allocated, want["pareto_gpu_hours_by_job"]);
  // Nothing was observed, so nothing can be got back: those that hold most come first.
  expect_rows(report.cut(By::kUser), want["top5_users"], allocated_in);
  EXPECT_FALSE(report.utilisation.mean);
  EXPECT_TRUE(report.utilisation.metrics.empty());
}

TEST_F(Corpus, UioFoxFamilies) {
  const FleetUsage usage = usage_of({"uio_fox/slurm-sacct_2025-05-03.csv"});
  const Families families = families_of(usage, *Recogniser::make({}));
  std::vector<std::string> whys;
  for (const Family& family : families.all) whys.push_back(why(family));
  EXPECT_TRUE(std::ranges::count(whys,
                                 "jobs named uio-transcription-job, user ec313-autotekst, "
                                 "1 accelerator"))
      << testing::PrintToString(whys);
  EXPECT_LT(families.all.size(), 20U);
}

TEST_F(Corpus, PhillyJobs) {
  const json want = expected("philly_jobs");
  const Report report = report_of(usage_of({"philly_jobs/philly.csv.gz"}), Order::kRecoverable);
  EXPECT_EQ(report.totals.jobs, want["n_jobs"].get<std::uint64_t>());
  expect_places(in_hours(report.totals.split.allocated), want["gpu_hours"], 3);
  const Cut& clusters = report.cut(By::kPartition);
  EXPECT_EQ(clusters.count, want["n_virtual_clusters"].get<std::uint64_t>());
  double last = std::numeric_limits<double>::infinity();
  for (const Row& row : clusters.rows) {
    expect_places(in_hours(row.split.allocated), want["gpu_hours_by_vc"][row.name], 3);
    EXPECT_LE(row.split.allocated, last);
    last = row.split.allocated;
  }
  expect_places(clusters.rows[0].split.allocated / report.totals.split.allocated,
                want["pareto_gpu_hours_by_vc_top1"], 6);
  expect_top(report.cut(By::kJob).allocated, want["pareto_gpu_hours_by_job"]);
}

TEST_F(Corpus, Openb) {
  const json want = expected("openb_v2023");
  const FleetUsage usage = usage_of(
      {"openb_v2023/openb_node_list_gpu_node.csv", "openb_v2023/openb_pod_list_default.csv"});
  const Report report = report_of(usage, Order::kRecoverable);
  EXPECT_EQ(report.totals.jobs, want["n_gpu_pods"].get<std::uint64_t>() -
                                    want["never_scheduled_gpu_pods"].get<std::uint64_t>());
  expect_places(in_hours(report.totals.split.allocated), want["gpu_hours"], 3);
  expect_places(in_hours(report.totals.queue), want["queue_gpu_hours"], 3);
  expect_places(report.totals.lost / report.totals.split.allocated, want["failed_gpu_hour_share"],
                6);
  expect_top(report.cut(By::kJob).allocated, want["pareto_gpu_hours_by_pod"]);
  for (const Row& row : report.cut(By::kPartition).rows) {
    expect_places(in_hours(row.split.allocated), want["gpu_hours_by_qos"][row.name], 3);
  }
  EXPECT_EQ(report.capacity.basis, "counts of accelerators");
  const double window = to_seconds(report.end - report.start);
  EXPECT_NEAR(*report.capacity.total / window, want["gpus"].get<double>(), 1e-6);
}

TEST_F(Corpus, HeliosClassesOfCapacity) {
  const json want = expected("helios_earth_vcs_shared");
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(corpus_folder() + "/fleet/helios/earth_vcs")) {
    files.push_back("helios/earth_vcs/" + entry.path().filename().string());
  }
  std::ranges::sort(files);
  const Report report = report_of(usage_of(files), Order::kRecoverable);
  expect_places(in_hours(*report.capacity.total), want["capacity_gpu_hours"], 2);
  expect_places(in_hours(report.capacity.allocated), want["allocated_gpu_hours"], 2);
  expect_places(in_hours(*report.capacity.unallocated), want["idle_unallocated_gpu_hours"], 2);
  ASSERT_EQ(report.partitions.size(), want["rank_by_idle"].size());
  for (std::size_t i = 0; i < report.partitions.size(); ++i) {
    const CapacityUse& use = report.partitions[i];
    const std::string name = want["rank_by_idle"][i].get<std::string>();
    EXPECT_TRUE(use.partition.starts_with(name)) << use.partition;
    const json& vc = want["per_vc"][name];
    expect_places(in_hours(*use.total), vc["capacity_gpu_h"], 2);
    expect_places(in_hours(use.allocated), vc["alloc_gpu_h"], 2);
    expect_places(in_hours(*use.unallocated), vc["idle_gpu_h"], 2);
  }
}

}  // namespace
}  // namespace amdahl::ingest
