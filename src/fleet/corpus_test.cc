// The figures of the reference fleets, from what readers say of their records.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "bytes/unpack.h"
#include "fleet/feed.h"
#include "fleet/hostlist.h"

namespace amdahl::fleet {
namespace {

using model::JobState;
using model::Trouble;

std::string corpus() {
  const char* folder = std::getenv("AMDAHL_CORPUS");
  return folder == nullptr ? "" : folder;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  std::string text = bytes.str();
  if (bytes::packing_of(text) == bytes::Packing::kNone) return text;
  std::string plain;
  const auto done =
      bytes::Unpacker::make(bytes::packing_of(text))->feed(text, [&](std::string_view piece) {
        plain += piece;
        return Result<>(Ok{});
      });
  EXPECT_TRUE(done) << done.error().text;
  return plain;
}

Json expected(const std::string& name) {
  return Json::parse(read_file(corpus() + "/expected/fleet/" + name + ".json"));
}

// By whatever source claims the bytes, as a scan would; in odd pieces.
Fed scan(const std::string& file, std::string_view source) {
  const std::string path = corpus() + "/fleet/" + file;
  const std::string bytes = read_file(path);
  const auto found = sources().claiming(std::string_view(bytes).substr(0, 4096));
  EXPECT_TRUE(found) << found.error().text;
  if (!found) return {};
  EXPECT_EQ(found->name, source);
  Fed fed = feed(found->make, bytes, {.path = path}, 65537);
  EXPECT_EQ(fed.error, "");
  return fed;
}

// Skips what needs reference inputs where there are none.
class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(corpus() + "/fleet")) {
      GTEST_SKIP() << "AMDAHL_CORPUS names no corpus";
    }
  }
};

double hours_of(const Recorder::Job& job) {
  if (job.draft.start == Nanos{}) return 0;
  const Nanos wall =
      job.draft.elapsed >= Nanos{} ? job.draft.elapsed : job.draft.end - job.draft.start;
  return job.draft.accelerators * to_seconds(wall) / 3600;
}

double queue_hours_of(const Recorder::Job& job) {
  if (job.draft.start == Nanos{} || job.draft.submit == Nanos{}) return 0;
  return job.draft.accelerators * to_seconds(job.draft.start - job.draft.submit) / 3600;
}

// The figures have four places behind the point.
void expect_near(double got, const Json& want) {
  EXPECT_NEAR(got, want.get<double>(), 1e-6 * std::abs(want.get<double>()) + 6e-5);
}

double share_of_top(std::vector<double> values, double top) {
  std::ranges::sort(values, std::greater{});
  const auto count =
      static_cast<std::ptrdiff_t>(std::ceil(top * static_cast<double>(values.size()) - 1e-9));
  return std::accumulate(values.begin(), values.begin() + count, 0.0) /
         std::accumulate(values.begin(), values.end(), 0.0);
}

void expect_pareto(const std::vector<double>& values, const Json& want) {
  expect_near(share_of_top(values, 0.001), want["top_0.1pct"]);
  expect_near(share_of_top(values, 0.01), want["top_1pct"]);
  expect_near(share_of_top(values, 0.05), want["top_5pct"]);
  expect_near(share_of_top(values, 0.1), want["top_10pct"]);
  expect_near(share_of_top(values, 0.2), want["top_20pct"]);
}

TEST_F(Corpus, AlexJobs) {
  const Fed fed = scan("alex/alex_jobs.csv", "csv");
  const Json want = expected("alex_jobs");
  EXPECT_EQ(fed.told.jobs.size(), want["n_jobs"].get<std::size_t>());
  double hours = 0;
  double busy = 0;
  double plain = 0;
  double zero_hours = 0;
  double under5 = 0;
  int zero_jobs = 0;
  std::map<std::string, double> by_kind;
  std::map<std::string, double> waste_of_user;
  std::vector<double> waste;
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& job : fed.told.jobs) {
    const double mean = job.draft.mean_utilisation;
    ASSERT_TRUE(mean >= 0 && mean <= 1);
    const double own = hours_of(job);
    hours += own;
    busy += own * mean;
    plain += mean;
    by_kind[job.kind] += own;
    waste_of_user[job.user] += own * (1 - mean);
    waste.push_back(own * (1 - mean));
    ranked.emplace_back(-own * (1 - mean), job.id);
    if (mean == 0) {
      ++zero_jobs;
      zero_hours += own;
    }
    if (mean < 0.05) under5 += own;
    EXPECT_EQ(job.metric, "acc_utilization");
    EXPECT_EQ(expand_hosts(job.hosts)->size(), static_cast<std::size_t>(job.draft.host_count));
  }
  expect_near(hours, want["gpu_hours"]);
  for (const auto& [kind, own] : want["gpu_hours_by_subcluster"].items()) {
    expect_near(by_kind[kind], own);
  }
  expect_near(100 * plain / 303, want["util_mean_unweighted_pct"]);
  expect_near(100 * busy / hours, want["util_mean_gpuh_weighted_pct"]);
  expect_near(hours - busy, want["waste_gpu_hours"]);
  EXPECT_EQ(zero_jobs, want["zero_util_jobs"].get<int>());
  expect_near(zero_hours, want["zero_util_gpu_hours"]);
  expect_near(under5, want["lt5_util_gpu_hours"]);
  EXPECT_EQ(waste_of_user.size(), want["users"].get<std::size_t>());
  expect_pareto(waste, want["pareto_waste_by_job"]);
  std::vector<double> users;
  for (const auto& [user, own] : waste_of_user) users.push_back(own);
  expect_pareto(users, want["pareto_waste_by_user"]);
  std::ranges::sort(ranked);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(ranked[i].second, std::to_string(want["top10_jobs_by_waste"][i][0].get<int>()));
  }
}

TEST_F(Corpus, UioFoxSacct) {
  const Fed fed = scan("uio_fox/slurm-sacct_2025-05-03.csv", "sonar");
  const Json want = expected("uio_fox_sacct");
  EXPECT_EQ(fed.told.jobs.size(), want["job_level_lines"].get<std::size_t>());
  EXPECT_EQ(fed.told.count(Trouble::kStep), want["step_lines"].get<std::size_t>());
  double hours = 0;
  double queue = 0;
  std::size_t gpu_jobs = 0;
  std::map<std::string, double> by_state;
  std::map<std::string, double> by_user;
  std::map<std::string, int> kinds;
  std::vector<double> each;
  for (const auto& job : fed.told.jobs) {
    if (job.draft.accelerators == 0) continue;
    ++gpu_jobs;
    hours += hours_of(job);
    queue += queue_hours_of(job);
    by_state[std::string(model::name(job.draft.state))] += hours_of(job);
    by_user[job.user] += hours_of(job);
    each.push_back(hours_of(job));
    if (!job.kind.empty()) ++kinds[job.kind];
  }
  EXPECT_EQ(gpu_jobs, want["gpu_jobs"].get<std::size_t>());
  expect_near(hours, want["gpu_hours"]);
  for (const auto& [state, own] : want["gpu_hours_by_state"].items()) {
    expect_near(by_state[state], own);
  }
  expect_near(queue, want["queue_gpu_hours"]);
  expect_near(queue / (queue + hours), want["queue_share"]);
  EXPECT_EQ(Json(kinds), want["gpu_types"]);
  EXPECT_EQ(by_user.size(), want["users"].get<std::size_t>());
  for (const Json& pair : want["top5_users"]) {
    expect_near(by_user[pair[0].get<std::string>()], pair[1]);
  }
  expect_pareto(each, want["pareto_gpu_hours_by_job"]);
}

TEST_F(Corpus, OpenbPodsAndNodes) {
  const Fed fed = scan("openb_v2023/openb_pod_list_default.csv", "csv");
  const Json want = expected("openb_v2023");
  EXPECT_EQ(fed.told.jobs.size(), want["n_pods"].get<std::size_t>());
  double hours = 0;
  double queue = 0;
  int gpu_pods = 0;
  int fractional = 0;
  int never = 0;
  std::map<std::string, double> by_phase;
  std::map<std::string, double> by_qos;
  std::vector<double> waits;
  std::vector<double> each;
  for (const auto& job : fed.told.jobs) {
    if (job.draft.accelerators == 0) continue;
    ++gpu_pods;
    fractional += job.draft.accelerators < 1 ? 1 : 0;
    if (job.draft.start == Nanos{}) {
      ++never;
      EXPECT_EQ(job.draft.state, JobState::kPending);
      continue;
    }
    hours += hours_of(job);
    queue += queue_hours_of(job);
    waits.push_back(to_seconds(job.draft.start - job.draft.submit));
    by_phase[std::string(model::name(job.draft.state))] += hours_of(job);
    by_qos[job.partition] += hours_of(job);
    each.push_back(hours_of(job));
  }
  EXPECT_EQ(gpu_pods, want["n_gpu_pods"].get<int>());
  EXPECT_EQ(fractional, want["n_fractional_gpu_pods"].get<int>());
  EXPECT_EQ(never, want["never_scheduled_gpu_pods"].get<int>());
  EXPECT_NEAR(hours, want["gpu_hours"].get<double>(), 6e-4);
  EXPECT_NEAR(by_phase["FAILED"], want["gpu_hours_by_phase"]["Failed"].get<double>(), 6e-4);
  EXPECT_NEAR(by_phase["RUNNING"], want["gpu_hours_by_phase"]["Running"].get<double>(), 6e-4);
  EXPECT_NEAR(by_phase["COMPLETED"], want["gpu_hours_by_phase"]["Succeeded"].get<double>(), 6e-4);
  for (const auto& [qos, own] : want["gpu_hours_by_qos"].items()) {
    EXPECT_NEAR(by_qos[qos], own.get<double>(), 6e-4);
  }
  EXPECT_NEAR(queue, want["queue_gpu_hours"].get<double>(), 6e-4);
  std::ranges::sort(waits);
  EXPECT_NEAR(std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size()),
              want["queue_s"]["mean"].get<double>(), 6e-4);
  EXPECT_EQ(waits[waits.size() / 2], want["queue_s"]["median"].get<double>());
  expect_pareto(each, want["pareto_gpu_hours_by_pod"]);

  const Fed nodes = scan("openb_v2023/openb_node_list_gpu_node.csv", "csv");
  EXPECT_EQ(nodes.told.capacities.size(), want["gpu_nodes"].get<std::size_t>());
  std::map<std::string, int> models;
  for (const std::string& line : nodes.told.capacities) {
    const std::size_t last = line.rfind('|');
    const std::size_t kind = line.rfind('|', last - 1);
    models[line.substr(kind + 1, last - kind - 1)] += std::stoi(line.substr(last + 1));
  }
  EXPECT_EQ(Json(models), want["gpu_models"]);
}

TEST_F(Corpus, PhillyJobs) {
  const Fed fed = scan("philly_jobs/philly.csv.gz", "csv");
  const Json want = expected("philly_jobs");
  EXPECT_EQ(fed.told.jobs.size(), want["n_jobs"].get<std::size_t>());
  double hours = 0;
  std::map<std::string, double> by_cluster;
  std::map<std::string, int> sizes;
  std::vector<double> each;
  std::set<std::string> ids;
  std::set<std::tuple<std::int64_t, std::int64_t, double, std::string>> rows;
  for (const auto& job : fed.told.jobs) {
    hours += hours_of(job);
    each.push_back(hours_of(job));
    by_cluster[job.account] += hours_of(job);
    ++sizes[std::to_string(static_cast<int>(job.draft.accelerators))];
    ids.insert(job.id);
    rows.emplace(job.draft.start.count(), job.draft.elapsed.count(), job.draft.accelerators,
                 job.account);
    EXPECT_EQ(job.draft.submit, Nanos{});  // The queue is not in this file.
  }
  EXPECT_NEAR(hours, want["gpu_hours"].get<double>(), 6e-4);
  EXPECT_EQ(Json(sizes), want["gpus"]["dist"]);
  for (const auto& [cluster, own] : want["gpu_hours_by_vc"].items()) {
    EXPECT_NEAR(by_cluster[cluster], own.get<double>(), 6e-4);
  }
  EXPECT_EQ(by_cluster.size(), want["n_virtual_clusters"].get<std::size_t>());
  expect_pareto(each, want["pareto_gpu_hours_by_job"]);
  // Rows without an id may be equal and yet be two jobs: each has an id of its own.
  EXPECT_EQ(ids.size(), fed.told.jobs.size());
  EXPECT_EQ(fed.told.jobs.size() - rows.size(), want["exact_duplicate_rows"].get<std::size_t>());
}

TEST_F(Corpus, HeliosOccupancy) {
  const Json want = expected("helios_earth_vcs_shared");
  double capacity = 0;
  double allocated = 0;
  for (const auto& [name, own] : want["per_vc"].items()) {
    SCOPED_TRACE(name);
    const Fed fed = scan("helios/earth_vcs/" + name + ".csv.gz", "csv");
    double total = 0;
    double used = 0;
    for (const auto& room : fed.told.occupancies) {
      ASSERT_EQ(room.partition, name);
      total += room.occupancy.total * to_seconds(room.occupancy.held) / 3600;
      used += room.occupancy.allocated * to_seconds(room.occupancy.held) / 3600;
    }
    EXPECT_NEAR(total, own["capacity_gpu_h"].get<double>(), 6e-3);
    EXPECT_NEAR(used, own["alloc_gpu_h"].get<double>(), 6e-3);
    EXPECT_NEAR(total - used, own["idle_gpu_h"].get<double>(), 6e-3);
    capacity += total;
    allocated += used;
  }
  expect_near(capacity, want["capacity_gpu_hours"]);
  expect_near(allocated, want["allocated_gpu_hours"]);  // There a sum of rounded numbers.
}

TEST_F(Corpus, PhillyWeek) {
  const Json want = expected("philly_synth_week");
  const Fed sacct = scan("philly_synth_week/sacct.txt.gz", "slurm");
  EXPECT_EQ(sacct.told.jobs.size(), want["jobs"].get<std::size_t>());
  double hours = 0;
  for (const auto& job : sacct.told.jobs) hours += hours_of(job);
  expect_near(hours, want["gpu_hours_unclipped_elapsedraw"]);

  const Fed places = scan("philly_synth_week/gpu_alloc.csv.gz", "csv");
  EXPECT_EQ(places.told.places.front(), "100001 gpu002 0");
  for (const auto& [host, day] : want["nvidia_smi_day"].items()) {
    const Fed smi =
        scan("philly_synth_week/nvidia-smi_" + host + "_2017-10-11.csv.gz", "nvidia-smi");
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < smi.told.samples_of.size(); ++i) {
      // Power and memory come with it.
      if (smi.told.series_names[i].find(" utilization.gpu") == std::string::npos) continue;
      for (const Sample& sample : smi.told.samples_of[i]) sum += static_cast<double>(sample.value);
      count += smi.told.samples_of[i].size();
    }
    EXPECT_EQ(count, day["rows"].get<std::size_t>());
    EXPECT_EQ(smi.told.sample_count(), 3 * count);
    expect_near(sum / static_cast<double>(count), day["mean_util_pct_all_gpus"]);
    EXPECT_TRUE(smi.told.series_names.front().starts_with(host + "/0 utilization.gpu"));
  }
}

// Headerless, so that only a mapping can say what its columns are.
TEST_F(Corpus, PaiMachinesByAMapping) {
  constexpr std::string_view kMapping = R"(
row = "capacity"
header = false
[columns]
host = "1"
kind = "2"
accelerators = "5"
[[where]]
column = "2"
is_not = "CPU"
)";
  const std::string bytes = read_file(corpus() + "/fleet/pai_v2020/pai_machine_spec.csv");
  const Fed fed = feed(sources().named("csv")->make, bytes, {.mapping = std::string(kMapping)});
  EXPECT_EQ(fed.error, "");
  int gpus = 0;
  for (const std::string& line : fed.told.capacities) {
    gpus += std::stoi(line.substr(line.rfind('|') + 1));
  }
  EXPECT_EQ(gpus, 6742);
}

}  // namespace
}  // namespace amdahl::fleet
