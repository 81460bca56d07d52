// usage_testing.h: what tests of a fleet's usage share.
#pragma once

#include <chrono>
#include <cstdint>

#include "scan/usage_accumulator.h"

namespace amdahl::scan {

inline constexpr std::chrono::seconds kStart{1'700'000'000};

inline std::uint64_t count_of(const FleetUsage& usage, model::Trouble trouble) {
  for (const TroubleCount& row : usage.troubles) {
    if (row.trouble == trouble) return row.count;
  }
  return 0;
}

}  // namespace amdahl::scan
