#include "fleet/prometheus_text/prometheus_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"

namespace amdahl::fleet::prometheus_text {
namespace {

using model::Trouble;
using std::chrono::milliseconds;
using std::chrono::seconds;

Fed read(std::string_view bytes, const ReaderOptions& options = {}) {
  const auto source = sources().claiming(bytes);
  EXPECT_TRUE(source && source->name == "prometheus-text")
      << (source ? std::string(source->name) : source.error().text);
  Fed whole = feed(make, bytes, options);
  const Fed single = feed(make, bytes, options, 1);
  EXPECT_EQ(whole.error, single.error);
  EXPECT_EQ(whole.told.counts, single.told.counts);
  EXPECT_EQ(whole.told.series_names, single.told.series_names);
  EXPECT_EQ(whole.told.sample_count(), single.told.sample_count());
  return whole;
}

constexpr std::string_view kScrape =
    "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n"
    "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
    "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-1\",modelName=\"A100\",Hostname=\"n1\"} 83\n"
    "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-2\",modelName=\"A \\\"B\\\"\",Hostname=\"n1\"} NaN\n"
    "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",Hostname=\"n1\"} 123.5\n"
    "up 1\n";

TEST(PrometheusText, AScrapeIsOfTheTimeInItsFilesName) {
  const Fed fed = read(kScrape, {.path = "scrapes/n1-1700000000.prom"});
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "),
            "n1/0 DCGM_FI_DEV_GPU_UTIL uuid=GPU-1 kind=A100, "
            "n1/1 DCGM_FI_DEV_GPU_UTIL uuid=GPU-2 kind=A \"B\", n1/0 DCGM_FI_DEV_POWER_USAGE");
  ASSERT_EQ(fed.told.samples_of[0].size(), 1U);
  EXPECT_EQ(fed.told.samples_of[0][0].at, seconds(1700000000));
  EXPECT_EQ(fed.told.samples_of[0][0].value, 83);
  EXPECT_EQ(fed.told.samples_of[2].at(0).value, 123.5F);
  EXPECT_EQ(fed.told.count(Trouble::kNotFinite), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kOtherMetric), 1U);
}

TEST(PrometheusText, WithoutAnyTimeItSaysWhatToDo) {
  EXPECT_EQ(read(kScrape, {.path = "metrics.txt"}).error,
            "3 samples have no time, and the file's name has none ('node1-1700000000.prom'); what "
            "Prometheus kept has them: promtool tsdb dump, or query_range");
}

TEST(PrometheusText, WhatPromtoolDumps) {
  const Fed fed = read(
      "{__name__=\"nvidia_gpu_duty_cycle\", instance=\"n7.example:9445\", minor_number=\"2\", "
      "jobid=\"42\", userid=\"1000\"} 50 1700000000000\n"
      "{__name__=\"nvidia_gpu_duty_cycle\", instance=\"n7.example:9445\", minor_number=\"2\", "
      "jobid=\"42\", userid=\"1000\"} 60 1700000030500\n");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "), "n7/2 nvidia_gpu_duty_cycle job=42");
  ASSERT_EQ(fed.told.samples_of[0].size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][1].at, milliseconds(1700000030500));
  ASSERT_EQ(fed.told.jobs.size(), 1U);  // A hint of whose it is.
  EXPECT_EQ(fed.told.jobs[0].user, "1000");
}

TEST(PrometheusText, OpenMetricsHasSecondsAndExemplars) {
  const Fed fed = read(
      "# TYPE DCGM_FI_PROF_SM_ACTIVE gauge\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",Hostname=\"n1\"} 0.25 1700000000.5\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",Hostname=\"n1\"} 0.5 1700000010 # {trace=\"x\"} 0.6 1\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"1\",Hostname=\"n1\"} 0.5 # {trace=\"x\"} 0.6\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",Hostname=\"n1\" 0.5 1700000010\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",Hostname=\"n1\"} much 1700000020\n"
      "# EOF\n");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.samples_of.at(0).size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][0].at, milliseconds(1700000000500));
  EXPECT_EQ(fed.told.samples_of[0][1].at, seconds(1700000010));
  EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);  // The one without.
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 2U);
}

TEST(PrometheusText, TimesInNamesOfFiles) {
  EXPECT_EQ(time_in_path("a/n1-1700000000.prom"), seconds(1700000000));
  EXPECT_EQ(time_in_path("1700000000500.txt.gz"), milliseconds(1700000000500));
  EXPECT_EQ(time_in_path("n1_2023-11-14T22-13-20.prom"), seconds(1700000000));
  EXPECT_EQ(time_in_path("2023-11-14_22:13:20.prom"), seconds(1700000000));
  EXPECT_EQ(time_in_path("2023/n1.prom"), Nanos{});
}

}  // namespace
}  // namespace amdahl::fleet::prometheus_text
