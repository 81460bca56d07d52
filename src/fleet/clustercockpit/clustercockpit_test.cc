#include "fleet/clustercockpit/clustercockpit.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"

namespace amdahl::fleet::clustercockpit {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::seconds;

constexpr std::string_view kMeta = R"({"jobId":679951,"user":"u1","project":"p1","cluster":"alex",
 "subCluster":"a100","partition":"a100","arrayJobId":0,"numNodes":2,"numAcc":3,"jobState":"failed",
 "duration":456,"walltime":86340,"resources":[{"hostname":"a0603.nhr.example",
 "accelerators":["00000000:49:00.0","00000000:4E:00.0"]},{"hostname":"a0604","accelerators":[1]}],
 "metaData":{"jobName":"train","jobScript":"#!/bin/sh\n"},"startTime":1675954289,
 "statistics":{"acc_utilization":{"unit":{"base":"%"},"avg":61.5,"min":0,"max":100}}})";

constexpr std::string_view kData = R"({"acc_utilization":{"accelerator":{"unit":{"base":"%"},
 "timestep":60,"series":[{"hostname":"a0603","id":"00000000:49:00.0","statistics":{"avg":61},
 "data":[null,40.5,100,9223372036854775794,0]},{"hostname":"a0604","id":1,"data":[1]}]}},
 "acc_mem_used":{"accelerator":{"timestep":60,"series":[]}},
 "cpu_load":{"node":{"unit":{"base":""},"timestep":60,"series":[]}}})";

TEST(ClusterCockpit, AJobOfTheArchive) {
  EXPECT_TRUE(claims_meta(kMeta));
  EXPECT_FALSE(claims_data(kMeta));
  const Fed fed = feed(make_meta, kMeta, {}, 7);
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 1U);
  const auto& job = fed.told.jobs.front();
  EXPECT_EQ(job.id, "679951");
  EXPECT_EQ(job.name + " " + job.user + " " + job.account + " " + job.partition + " " + job.kind,
            "train u1 p1 a100 a100");
  EXPECT_EQ(job.hosts, "a0603,a0604");
  EXPECT_EQ(job.draft.state, JobState::kFailed);
  EXPECT_EQ(job.draft.start, seconds(1675954289));
  EXPECT_EQ(job.draft.elapsed, seconds(456));
  EXPECT_EQ(job.draft.end - job.draft.start, seconds(456));
  EXPECT_EQ(job.draft.accelerators, 3);
  EXPECT_DOUBLE_EQ(job.draft.mean_utilisation, 0.615);
  EXPECT_EQ(job.metric, "acc_utilization");
  EXPECT_EQ(join(fed.told.places, ", "),
            "679951 a0603 00000000:49:00.0, 679951 a0603 00000000:4E:00.0, 679951 a0604 1");
}

TEST(ClusterCockpit, ItsSamples) {
  EXPECT_TRUE(claims_data(kData));
  EXPECT_FALSE(claims_meta(kData));
  const Fed fed = feed(make_data, kData, {.path = "archive/alex/679/951/1675954289/data.json.gz"});
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.series_names.size(), 2U);
  EXPECT_EQ(fed.told.series_names[0], "a0603/00000000:49:00.0 acc_utilization job=679951");
  EXPECT_EQ(fed.told.series_names[1], "a0604/1 acc_utilization job=679951");
  ASSERT_EQ(fed.told.samples_of[0].size(), 3U);
  EXPECT_EQ(fed.told.samples_of[0][0].at, seconds(1675954289 + 60));
  EXPECT_EQ(fed.told.samples_of[0][2].at, seconds(1675954289 + 240));
  EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 2U);
  EXPECT_EQ(fed.told.count(Trouble::kOtherMetric), 0U);
}

TEST(ClusterCockpit, SaysWhatIsWrong) {
  EXPECT_EQ(feed(make_data, kData, {.path = "data.json"}).error,
            "has no job id; leave it in the folders of its archive: "
            "CLUSTER/1403/244/1608923076/data.json belongs to job 1403244");
  EXPECT_EQ(feed(make_meta, R"({"cluster":"x"})").error, "/jobId: is missing");
  EXPECT_TRUE(feed(make_meta, kMeta.substr(0, 300)).error.starts_with("is not JSON: "));
  const Fed odd = feed(make_meta, R"({"jobId":"7","resources":7,"statistics":{"acc_utilization":
      {"avg":170}},"startTime":-5,"duration":1e300})");
  EXPECT_EQ(odd.told.jobs.at(0).draft.start, Nanos());
  EXPECT_EQ(odd.told.count(Trouble::kOutOfRange), 1U);
}

}  // namespace
}  // namespace amdahl::fleet::clustercockpit
