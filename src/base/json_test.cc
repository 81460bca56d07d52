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

TEST(Json, WhatIsNestedTooDeeplyIsRefusedBeforeItIsRead) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(500)));
  EXPECT_EQ(parse_json(nested(1'000'000)).error().text, "byte 501: nested more than 500 deep");
  EXPECT_TRUE(parse_json("\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\""));
}

}  // namespace
}  // namespace amdahl
