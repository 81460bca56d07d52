#include "fleet/nvidia_smi/ticks.h"

#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace amdahl::fleet::nvidia_smi {
namespace {

std::string found(const std::vector<int>& milliseconds) {
  std::vector<Nanos> times;
  for (const int each : milliseconds) times.push_back(std::chrono::milliseconds(each));
  const auto ticks = ticks_of(times);
  return ticks ? fmt::format("{} {}", ticks->gpus, ticks->apart / std::chrono::milliseconds(1))
               : "none";
}

TEST(Ticks, RoundsOfRows) {
  EXPECT_EQ(found({0, 1000, 2001, 3001, 4002}), "1 0");
  EXPECT_EQ(found({0, 1000, 2001, 9001, 10002}), "1 0") << "it slept once";
  EXPECT_EQ(found({0, 3, 1000, 1004, 2001, 2004}), "2 500");
  EXPECT_EQ(found({0, 0, 0, 0, 1000, 1000, 1000, 1000, 2000}), "4 500");
  EXPECT_EQ(found({0, 20, 40, 60, 1000, 1020, 1041, 1061, 2000, 2020, 2040}), "4 480");
}

TEST(Ticks, WhatShowsNoRounds) {
  EXPECT_EQ(found({}), "none");
  EXPECT_EQ(found({0, 5}), "none");
  EXPECT_EQ(found({0, 3, 1000, 2000, 2003, 2006, 3000}), "none") << "of two rows, one and three";
  EXPECT_EQ(found({0, 1000, 500}), "none") << "backwards";
  EXPECT_EQ(found({0, 30, 45, 100, 130, 146, 200, 228, 245}), "none") << "-lms 100: not clearly";
  EXPECT_EQ(found({0, 0, 0, 0}), "none") << "one round alone";
}

}  // namespace
}  // namespace amdahl::fleet::nvidia_smi
