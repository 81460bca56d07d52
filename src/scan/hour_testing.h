// hour_testing.h: scans of inputs that tell of one hour, for the tests of the join.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scan/fold.h"
#include "scan/testing.h"

namespace amdahl::scan {

inline constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.
inline const Window kHour{std::chrono::seconds(kStart), std::chrono::seconds(kStart + 3600)};

inline FleetUsage scan_all(const std::vector<Input>& inputs, std::optional<Window> window = kHour) {
  Fold fold({.window = window, .now = std::chrono::seconds(kStart + 7200)});
  std::vector<Input> timed = inputs;
  for (Input& input : timed) input.options.now = std::chrono::seconds(kStart + 7200);
  const auto read = drive(timed, fold, {});
  EXPECT_TRUE(read);
  for (const InputRead& one : *read) EXPECT_EQ(one.error, "") << one.name;
  return std::move(fold).finish();
}

}  // namespace amdahl::scan
