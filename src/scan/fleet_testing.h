// fleet_testing.h: a made-up fleet of any size, for tests and benches of the report.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scan/fleet_usage.h"

namespace amdahl::scan {

struct MadeFleet {
  std::size_t jobs = 1'000'000;
  std::uint64_t seed = 1;
  bool observed = false;  // With an average utilisation each; else without.
};

// A month of jobs of 5,000 users in 200 accounts on 4,000 nodes, under 10,000 names. Same options,
// same fleet. To rank it: report(usage, families_of(usage, recogniser), {}).
FleetUsage made_fleet(const MadeFleet& options);

}  // namespace amdahl::scan
