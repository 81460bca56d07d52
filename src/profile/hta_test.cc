#include "profile/hta.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profile/hta_rows.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

using Json = nlohmann::json;

struct Case {
  std::string_view expected;
  std::vector<std::string> files;
  bool round = true;
};

std::vector<std::string> dlrm() {
  constexpr std::string_view kStamps[] = {"545", "556", "554", "557", "547", "549", "553", "553"};
  std::vector<std::string> files;
  for (int rank = 0; rank < 8; ++rank) {
    files.push_back(fmt::format("param/dlrm_kineto/worker{}_step_12.1694128201{}.pt.trace.json.gz",
                                rank, kStamps[rank]));
  }
  return files;
}

std::vector<Case> cases() {
  return {
      {"a100_16rank_rank0", {"hta/a100_16rank_rank0.json.gz"}},
      {"a100_8rank_rank3", {"hta/a100_8rank_rank3.json.gz"}},
      {"a100_alexnet", {"hta/a100_alexnet_cudasync.json.gz"}},
      {"a100_nccl_2rank_rank0", {"hta/a100_nccl_2rank_rank0.json.gz"}},
      {"a100_nccl_2rank_rank0_noround", {"hta/a100_nccl_2rank_rank0.json.gz"}, false},
      {"dlrm_8rank", dlrm()},
      {"kineto_resnet50_nw0", {"kineto_tb/resnet50_nw0_1623143089861.pt.trace.json.gz"}},
      {"kineto_resnet50_nw4", {"kineto_tb/resnet50_nw4_1623212756351.pt.trace.json.gz"}},
      {"mi250_rocm62_minitoy", {"hta/mi250_rocm62_minitoy.json.gz"}},
      {"param_linear", {"param/linear_kineto.json.gz"}},
      {"param_resnet", {"param/resnet_kineto.json.gz"}},
      {"v100_2rank_rank1", {"hta/v100_2rank_rank1.json.gz"}},
      {"v100_2rank_test_rank1", {"hta/v100_2rank_test_rank1.json.gz"}},
      {"v100_ns_rank0", {"hta/v100_ns_rank0.json.gz"}},
      {"v100_ns_rank0_noround", {"hta/v100_ns_rank0.json.gz"}, false},
  };
}

// HTA prints some figures with two decimals, and sums floats in another order than we do.
void near(const Json& want, double got, double by, std::string_view what) {
  if (want.is_null()) {
    EXPECT_TRUE(std::isnan(got)) << what << " " << got;
  } else {
    EXPECT_NEAR(want.get<double>(), got, by) << what;
  }
}

const Json* of_rank(const Json& list, int rank) {
  for (const Json& row : list) {
    if (row["rank"] == rank) return &row;
  }
  return nullptr;
}

void check_temporal(const Json& figures, const HtaFigures& got) {
  const Json* const row = of_rank(figures["temporal_breakdown"], got.rank);
  ASSERT_NE(row, nullptr);
  near((*row)["idle_time(us)"], got.temporal.idle_us, 1e-3, "idle");
  near((*row)["compute_time(us)"], got.temporal.compute_us, 1e-3, "compute");
  near((*row)["non_compute_time(us)"], got.temporal.non_compute_us, 1e-3, "non compute");
  near((*row)["kernel_time(us)"], got.temporal.kernel_us, 1e-3, "kernel");
  near((*row)["idle_time_pctg"], got.temporal.idle_percent, 0.0051, "idle percent");
  near((*row)["compute_time_pctg"], got.temporal.compute_percent, 0.0051, "compute percent");
  near((*row)["non_compute_time_pctg"], got.temporal.non_compute_percent, 0.0051, "other percent");
  const Json* const overlap = of_rank(figures["comm_comp_overlap"], got.rank);
  ASSERT_NE(overlap, nullptr);
  near((*overlap)["comp_comm_overlap_pctg"],
       got.overlap_percent.value_or(std::numeric_limits<double>::quiet_NaN()), 0.0051, "overlap");
}

void check_idle(const Json& figures, const HtaFigures& got) {
  const Json* const idle = of_rank(figures["idle_time_breakdown"], got.rank);
  ASSERT_NE(idle, nullptr);
  const Json& rows = (*idle)["breakdown"];
  const Json& stats = (*idle)["stats"];
  ASSERT_EQ(rows.size(), got.idle.size());
  ASSERT_EQ(stats.size(), got.idle.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HtaIdle& row = got.idle[i];
    SCOPED_TRACE(testing::Message() << "stream " << row.stream << " " << row.category);
    EXPECT_EQ(rows[i]["stream"], row.stream);
    EXPECT_EQ(rows[i]["idle_category"], row.category);
    near(rows[i]["idle_time"], row.idle_us, 0.0051, "idle");
    near(rows[i]["idle_time_ratio"], row.ratio, 0.0051, "ratio");
    EXPECT_EQ(stats[i]["count"].get<double>(), static_cast<double>(row.intervals.count));
    if (row.intervals.count == 0) continue;
    near(stats[i]["mean"], row.intervals.mean, 0.0051, "mean");
    near(stats[i]["std"], row.intervals.deviation, 0.0051, "std");
    near(stats[i]["min"], row.intervals.least, 0.0051, "min");
    near(stats[i]["25%"], row.intervals.quarter, 0.0051, "25%");
    near(stats[i]["50%"], row.intervals.median, 0.0051, "50%");
    near(stats[i]["75%"], row.intervals.three_quarters, 0.0051, "75%");
    near(stats[i]["max"], row.intervals.most, 0.0051, "max");
  }
}

void check_launches(const Json& figures, const HtaFigures& got) {
  const Json& want = figures["cuda_kernel_launch_stats"][std::to_string(got.rank)];
  EXPECT_EQ(want["n"], got.launches.count);
  near(want["sum_cpu_us"], got.launches.host_us, 1e-2, "cpu");
  near(want["sum_gpu_us"], got.launches.device_us, 1e-2, "gpu");
  near(want["sum_launch_delay_us"], got.launches.delay_us, 1e-2, "delay");
  EXPECT_EQ(want["n_short_gpu_lt_cpu"], got.launches.shorter_than_launch);
  EXPECT_EQ(want["n_short_cpu_le50"], got.launches.shorter_than_quick_launch);
  EXPECT_EQ(want["n_runtime_outliers_gt50us"], got.launches.slow_launches);
  EXPECT_EQ(want["n_launch_delay_outliers_gt100us"], got.launches.late_starts);
  for (const auto& [q, value] : want["launch_delay_pct"].items()) {
    near(value, hta_quantile(got.launches.delays, std::stod(q)), 1e-3, q);
  }
}

void check_queues(const Json& figures, const HtaFigures& got) {
  const Json& want = figures["queue_length"][std::to_string(got.rank)];
  ASSERT_EQ(want.size(), got.queues.size());
  for (const HtaQueue& queue : got.queues) {
    SCOPED_TRACE(testing::Message() << "stream " << queue.stream);
    const Json& row = want[std::to_string(queue.stream)];
    EXPECT_EQ(row["n"], queue.count);
    EXPECT_EQ(row["min"], queue.least);
    EXPECT_EQ(row["max"], queue.most);
    near(row["mean"], queue.mean, 1e-9, "mean");
    near(row["p50"], queue.median, 1e-9, "p50");
  }
}

// Of all ranks together.
void check_kernel_types(const Json& figures, const std::array<std::int64_t, 8>& got) {
  std::map<std::string, std::int64_t> want;
  for (const Json& row : figures["gpu_kernel_breakdown"]["kernel_type"]) {
    want[row["kernel_type"]] = row["sum"].get<std::int64_t>();
  }
  for (std::size_t kinds = 1; kinds < got.size(); ++kinds) {
    EXPECT_EQ(want[hta_kernel_type(kinds)], got[kinds]) << hta_kernel_type(kinds);
  }
}

TEST(HtaCorpus, ItsFiguresAreReproduced) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  for (const Case& c : cases()) {
    std::ifstream file(trace::corpus() + "expected/hta/" + std::string(c.expected) + ".json");
    const Json figures = Json::parse(file)["figures"];
    std::array<std::int64_t, 8> types{};
    for (const std::string& path : c.files) {
      SCOPED_TRACE(testing::Message() << c.expected << " " << path);
      model::TraceBuilder builder;
      trace::Input input;
      input.name = path;
      input.next = trace::bytes_of(trace::corpus() + "traces/" + path);
      ASSERT_TRUE(trace::reader_named("kineto")->read(input, {}, builder));
      const auto got = hta_figures(builder.trace(), 0, {.round = c.round});
      ASSERT_TRUE(got);
      check_temporal(figures, *got);
      check_idle(figures, *got);
      check_launches(figures, *got);
      check_queues(figures, *got);
      for (std::size_t i = 0; i < types.size(); ++i) types[i] += got->kernel_types.us[i];
    }
    SCOPED_TRACE(c.expected);
    check_kernel_types(figures, types);
  }
}

TEST(HtaCorpus, EveryRecordedAnswerIsHeldAgainstOurs) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  const std::vector<Case> all = cases();
  for (const auto& file : std::filesystem::directory_iterator(trace::corpus() + "expected/hta")) {
    const std::string name = file.path().stem().string();
    EXPECT_NE(std::ranges::find(all, name, &Case::expected), all.end()) << name;
  }
}

TEST(Hta, OrderIsThatOfNumpy) {
  // numpy.argsort([i * 7 % 5 for i in range(40)]) of numpy 1.24.
  std::vector<double> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(i * 7 % 5);
  const std::vector<std::size_t> want = {0,  20, 15, 30, 10, 25, 35, 5,  23, 8,  33, 28, 13, 3,
                                         38, 18, 6,  21, 1,  36, 16, 26, 11, 31, 34, 29, 19, 14,
                                         9,  4,  24, 39, 27, 22, 17, 12, 32, 7,  2,  37};
  EXPECT_EQ(numpy_order(keys), want);
}

TEST(Hta, SaysNothingOfASourceWithoutDevices) {
  const Result<model::Trace> trace = trace::load_kineto(
      R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]})");
  ASSERT_TRUE(trace);
  EXPECT_FALSE(hta_figures(*trace, 0));
}

}  // namespace
}  // namespace amdahl::profile
