#include "fleet/json_table/json_table.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"

namespace amdahl::fleet::json_table {
namespace {

using model::Trouble;
using std::chrono::seconds;

Fed read(std::string_view bytes) {
  const auto source = source_for(bytes);
  EXPECT_TRUE(source && source->name == "json-table")
      << (source ? std::string(source->name) : source.error().text);
  Fed whole = feed(make, bytes);
  const Fed single = feed(make, bytes, {}, 1);
  EXPECT_EQ(whole.error, single.error);
  EXPECT_EQ(whole.told.counts, single.told.counts);
  EXPECT_EQ(whole.told.jobs.size(), single.told.jobs.size());
  return whole;
}

TEST(JsonTable, AnObjectALine) {
  const Fed fed = read(
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
  const Fed fed = read(
      "[{\"timestamp\": \"2024-05-01T10:00:00Z\", \"host\": \"n1\", \"gpu\": 0, \"utilization\": "
      "88},\n"
      " {\"timestamp\": \"2024-05-01T10:00:10Z\", \"host\": \"n1\", \"gpu\": 0, \"utilization\": "
      "0.5}]");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "), "n1/0 utilization");
  EXPECT_EQ(fed.told.sample_count(), 2U);
  EXPECT_FLOAT_EQ(fed.told.samples_of[0][0].value, 0.88F);
}

TEST(JsonTable, SaysWhatIsMissingAndLeavesOthersAlone) {
  const auto missing = source_for("[{\"job_id\": 1, \"begin\": 1614556800}]");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().text.starts_with(
      "is JSON, read as a table of its keys; it is a table, but its columns do not say all"))
      << missing.error().text;
  EXPECT_FALSE(source_for("{\"a\": 1}"));
  EXPECT_FALSE(source_for("[1, 2]"));
  EXPECT_FALSE(source_for("{\"a\": 1}\nx"));
}

}  // namespace
}  // namespace amdahl::fleet::json_table
