#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/job.h"
#include "compare/sample_measurements.h"

namespace amdahl::api {
namespace {

TEST(Comparison, JsonHasTheIntervalTheCountsAndNoInfinities) {
  const Json json = comparison(compare::account_of(compare::sample_tried(0.08, 0.01, 9)));
  EXPECT_EQ(json.at("answer"), "better");
  EXPECT_EQ(json.at("pairs").at("counted"), 9);
  EXPECT_LT(json.at("interval")[0], json.at("share"));
  EXPECT_GT(json.at("interval")[1], json.at("share"));
  EXPECT_EQ(json.at("rows").size(), 9U);
  EXPECT_TRUE(json.at("rows")[0].at("interval")[0].is_null()) << "one pair bounds nothing";
  EXPECT_EQ(json.at("noise").at("same_pairs"), 6);
  EXPECT_EQ(json.at("pairs_to_settle"), 0);
  const Json none = comparison(compare::account_of(compare::sample_tried(0, 0.01, 0)));
  EXPECT_TRUE(none.at("share").is_null()) << "unknown is not 0";
  EXPECT_TRUE(none.at("interval")[0].is_null());
}

}  // namespace
}  // namespace amdahl::api
