#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"
#include "fleet/table/table.h"

namespace amdahl::fleet::table {
namespace {

using model::Trouble;
using std::chrono::seconds;

Fed read_json(std::string_view bytes) {
  const auto source = sources().claiming(bytes);
  EXPECT_TRUE(source && source->name == "json-table")
      << (source ? std::string(source->name) : source.error().text);
  Fed whole = feed(make_objects, bytes);
  const Fed single = feed(make_objects, bytes, {}, 1);
  EXPECT_EQ(whole.error, single.error);
  EXPECT_EQ(whole.told.counts, single.told.counts);
  EXPECT_EQ(whole.told.jobs.size(), single.told.jobs.size());
  return whole;
}

TEST(JsonTable, AnObjectALine) {
  const Fed fed = read_json(
      "{\"job_id\": 7, \"user\": \"ada\", \"time\": {\"start\": 1614556800, \"end\": 1614560400}, "
      "\"gpus\": 2, \"nodes\": [\"n1\", \"n2\"], \"note\": \"a, \\\"b\\\"\\nc\"}\n"
      "{\"job_id\": 8, \"user\": null, \"time\": {\"start\": 1614556800, \"end\": null}, \"gpus\": "
      "1}\n"
      "not JSON\n");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].id + " " + fed.told.jobs[0].user + " " + fed.told.jobs[0].hosts,
            "7 ada n1,n2");
  EXPECT_EQ(fed.told.jobs[0].draft.end - fed.told.jobs[0].draft.start, seconds(3600));
  EXPECT_EQ(fed.told.jobs[1].draft.end, Nanos{});
  EXPECT_EQ(fed.told.jobs[1].where.line, 2U);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
}

TEST(JsonTable, AListOfSamples) {
  const Fed fed = read_json(
      "[{\"timestamp\": \"2024-05-01T10:00:00Z\", \"host\": \"n1\", \"gpu\": 0, \"utilization\": "
      "88},\n"
      " {\"timestamp\": \"2024-05-01T10:00:10Z\", \"host\": \"n1\", \"gpu\": 0, \"utilization\": "
      "0.5}]");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "), "n1/0 utilization");
  EXPECT_EQ(fed.told.sample_count(), 2U);
  EXPECT_FLOAT_EQ(fed.told.samples_of[0][0].value, 0.88F);
}

// Each of the accelerators in a list is a row, with what is said of all.
TEST(JsonTable, ObjectsWithAListOfAccelerators) {
  const std::string line =
      "{\"hostname\": \"n1\", \"query_time\": \"2026-11-02T00:00:00.12\", \"gpus\": [{\"index\": "
      "0, "
      "\"name\": \"A100\", \"utilization.gpu\": 45, \"temperature.gpu\": 50, \"processes\": []}, "
      "{\"index\": 1, \"name\": \"A100\", \"utilization.gpu\": 0, \"temperature.gpu\": 50}]}\n";
  std::string pretty;  // As gpustat writes it.
  for (const char c : line) pretty += c == ',' ? ",\n    " : std::string(1, c);
  for (const std::string& text : {line + line, pretty + pretty}) {
    const Fed fed = read_json(text);
    EXPECT_EQ(fed.error, "");
    EXPECT_EQ(join(fed.told.series_names, ", "), "n1/0 utilization.gpu, n1/1 utilization.gpu");
    EXPECT_EQ(fed.told.sample_count(), 4U);
  }
}

// A document whose list is the table, as kubectl, bjobs and others write it, on one line or more.
TEST(JsonTable, ADocumentWithAList) {
  const std::string pod =
      R"({"metadata": {"name": "train-0", "namespace": "bio", "uid": "u1",
      "creationTimestamp": "2026-11-02T00:00:00Z"}, "spec": {"nodeName": "n1", "containers": [
      {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "2"}}},
      {"name": "b", "resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "1"}}}]},
      "status": {"phase": "Succeeded", "startTime": "2026-11-02T00:10:00Z",
      "containerStatuses": [{"state": {"terminated": {"exitCode": 0,
      "startedAt": "2026-11-02T00:11:00Z", "finishedAt": "2026-11-02T01:10:00Z"}}}]}})";
  std::string document = "{\n \"apiVersion\": \"v1\", \"notes\": [\"x\"],\n \"items\": [" + pod +
                         ",\n" + pod + "]\n}\n";
  for (int i = 0; i < 3; ++i) {
    const Fed fed = read_json(document);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 2U);
    const Recorder::Job& job = fed.told.jobs[0];
    EXPECT_EQ(job.id + " " + job.account + " " + job.hosts, "train-0 bio n1");
    EXPECT_EQ(job.draft.accelerators, 3);
    EXPECT_EQ(job.draft.end - job.draft.start, seconds(3600));
    EXPECT_EQ(job.draft.state, model::JobState::kCompleted);
    std::erase(document, '\n');                                   // All on one line,
    if (i == 1) document.insert(1, std::string(2'000'000, ' '));  // and too large to be kept.
  }
}

TEST(JsonTable, SaysWhatIsMissingAndLeavesOthersAlone) {
  const auto missing = sources().claiming("[{\"job_id\": 1, \"begin\": 1614556800}]");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().text.starts_with(
      "is JSON, read as a table of its keys; it is a table without required columns"))
      << missing.error().text;
  EXPECT_FALSE(sources().claiming("{\"a\": 1}"));
  EXPECT_FALSE(sources().claiming("[1, 2]"));
  EXPECT_FALSE(sources().claiming("{\"a\": 1}\nx"));
}

// A cell is what the object holds: nothing in it is taken for a delimiter, a quote or a line end.
TEST(JsonTable, CellsHoldAnyText) {
  const Fed fed = read_json(
      "{\"job_id\": \"a,b|\\\"c\\\"\", \"start\": 1614556800, \"end\": 1614560400, \"gpus\": 1, "
      "\"user\": \" ada;\\n \"}\n"
      "{\"job_id\": \"#2\", \"start\": 1614556800, \"end\": 1614560400, \"gpus\": 1, \"user\": "
      "\"bo\"}\n"
      "{\"job_id\": \"3\\u0000\", \"start\": 1614556800, \"end\": 1614560400, \"gpus\": 1}\n");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].id, "a,b|\"c\"");
  EXPECT_EQ(fed.told.jobs[0].user, "ada;");
  EXPECT_EQ(fed.told.jobs[1].id, "#2");
  ASSERT_EQ(fed.told.complaints.size(), 1U);
  EXPECT_EQ(fed.told.complaints[0].where.line, 3U);
}

}  // namespace
}  // namespace amdahl::fleet::table
