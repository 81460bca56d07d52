// fleet_testing.h: a synthetic fleet of any size, for tests and benches of the report.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scan/fleet_usage.h"

namespace amdahl::scan {

struct MadeFleet {
  std::size_t jobs = 1'000'000;
  std::uint64_t seed = 1;
  bool observed = false;  // With a mean utilisation for each job; else without.
};

// One month of jobs of 5,000 users in 200 accounts on 4,000 nodes, with 10,000 names.
// Deterministic. To rank it: report(usage, families_of(usage, recogniser), {}).
FleetUsage made_fleet(const MadeFleet& options);

}  // namespace amdahl::scan
