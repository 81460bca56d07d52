#include "profile/gpus.h"

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

std::string lines(const std::string& more) {
  return R"({"schema": 1, "gpus": [{"gpu": 2, "name": "H100", "uuid": "GPU-1",)"
         R"( "memory_total_bytes": 80000000000}]})"
         "\n"
         R"({"t_ns": 0, "gpu": 2, "busy": 0.5, "memory_bytes": 1000000000, "power_w": 100,)"
         R"( "processes": [{"pid": 7, "ours": true}]})"
         "\n" +
         more;
}

TEST(Gpus, RowsComeToOneLine) {
  const auto uses =
      read_gpus(lines(R"({"t_ns": 1, "gpu": 2, "memory_bytes": 20000000000, "power_w": 300,)"
                      R"( "trouble": "the GPU is lost", "processes": [{"pid": 7, "ours": true},)"
                      R"( {"pid": 9, "memory_bytes": 3000000000, "ours": false}, {"pid": 11}]})"));
  ASSERT_TRUE(uses) << uses.error().text;
  ASSERT_EQ(uses->size(), 1U);
  EXPECT_EQ(describe(uses->front()),
            "GPU 2 (H100): peak memory 20.0 of 80.0 GB, 200 W on average, shared with 1 other "
            "process (3.00 GB, one is pid 9), so the utilisation includes other jobs, no "
            "utilisation in 1 sample (the GPU is lost), 2 samples");
  const Facts facts = facts_of(*uses);
  EXPECT_EQ(facts.evidence.at("gpu.memory_peak_share"), 0.25);
  EXPECT_EQ(facts.evidence.at("gpu.power_w"), 200);
  EXPECT_EQ(facts.evidence.at("gpu.strangers"), 1);
  EXPECT_EQ(facts.missing,
            (std::vector<std::string>{
                "utilisation of GPU 2: missing in 1 of 2 samples: the GPU is lost"}));
}

TEST(Gpus, WhatNvmlDoesNotTellIsNotThere) {
  const auto uses = read_gpus(
      "{\"schema\": 1, \"gpus\": [{\"gpu\": 0, \"name\": \"A\"}]}\n"
      "{\"t_ns\": 0, \"gpu\": 0, \"busy\": 1}\n");
  ASSERT_TRUE(uses) << uses.error().text;
  EXPECT_EQ(describe(uses->front()), "GPU 0 (A): 1 sample");
  EXPECT_EQ(facts_of(*uses).evidence, (std::map<std::string, double>{{"gpu.strangers", 0}}));
  EXPECT_TRUE(facts_of(std::vector<GpuUse>{}).evidence.empty());
}

TEST(Gpus, SaysWhereALineIsWrong) {
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {"{}", "line 1: the first row must have schema 1"},
      {lines("[]"), "line 3: a row must be an object"},
      {lines(R"({"gpu": 5})"), "line 3: gpu must be one of the first row's"},
      {lines(R"({"gpu": 2, "memory_bytes": -1})"),
       "line 3: memory_bytes must be a whole number, 0 or more"},
      {lines(R"({"gpu": 2, "power_w": "x"})"), "line 3: power_w must be a number, 0 or more"},
      {lines(R"({"gpu": 2, "processes": 1})"), "line 3: processes must be a list"},
      {lines(R"({"gpu": 2, "processes": [)"), "line 3: "},
  };
  for (const auto& c : cases) {
    const auto got = read_gpus(c.text);
    ASSERT_FALSE(got) << c.text;
    EXPECT_TRUE(got.error().text.starts_with(c.says)) << got.error().text;
  }
}

}  // namespace
}  // namespace amdahl::profile
