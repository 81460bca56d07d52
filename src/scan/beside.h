// beside.h: what a fleet did beside its jobs' work: power, held memory, use outside of jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Energy of accelerators while jobs held them.
struct Energy {
  double powered = 0;         // Accelerator-seconds with samples of power; 0: nothing is known.
  double kwh = 0;             // Of those.
  double unused_seconds = 0;  // Of those, in accelerators that were idle in 98 % of their samples,
  double unused_kwh = 0;      // and what they drew.
  double co2_g_per_kwh = 0;   // Of the grid, as configured.
};

// Accelerators that jobs held idle, in spells of at least kLeastSpell, by their memory.
struct HeldIdle {
  double seconds = 0;  // Accelerator-seconds.
  std::uint64_t jobs = 0;
  std::uint64_t users = 0;
  std::string worst_job;  // The one that held most,
  double worst = 0;       // and how long.
};

// Productive time of the accelerators of a host that accounting gives to no job.
struct OutsideUse {
  std::string host;
  double seconds = 0;
};

struct Beside {
  Energy energy;
  bool knows_memory = false;  // Whether there were samples of it.
  HeldIdle empty;             // No memory in use: no process had the accelerator.
  HeldIdle loaded;            // Memory in use: something was loaded and did nothing.
  // Most first; empty without accounting, and where less than a minute was worked.
  std::vector<OutsideUse> outside;
};

Beside beside_of(const FleetUsage& usage, const Stop& stop);

// Of one job; 0 without samples of power.
double kwh_of(const FleetUsage& usage, std::uint32_t job);

}  // namespace amdahl::scan
