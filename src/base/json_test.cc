#include "base/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace amdahl {
namespace {

TEST(Json, TheSameValueGivesTheSameBytes) {
  EXPECT_EQ(dump_json(*parse_json(R"({ "b": 1.50, "a": ["ä", null] })")),
            R"({"a":["ä",null],"b":1.5})");
  EXPECT_EQ(pretty_json(*parse_json(R"({"a":[]})")), "{\n  \"a\": []\n}");
}

TEST(Json, BytesThatAreNoTextAreReplaced) { EXPECT_EQ(dump_json(Json("a\xFF")), "\"a\uFFFD\""); }

TEST(Json, ErrorsNameTheByte) {
  const auto bad = parse_json(R"({"a": tru})");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, Error::Kind::kBadInput);
  EXPECT_EQ(bad.error().text.substr(0, 9), "byte 10: ");
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("{} x"));
  EXPECT_FALSE(parse_json("1e999"));
  EXPECT_FALSE(parse_json("\"\xFF\""));
}

}  // namespace
}  // namespace amdahl
