// waiting.h: accelerators that people waited for while others of that kind did nothing, by minute.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Accelerator-seconds within the window. For each minute (of windows above 138 days: each two or
// more): what jobs in the queue asked for against
// what was held idle (in spells of kLeastSpell or more), and against what nobody held.
struct Waiting {
  std::string kind;                  // Of accelerator; empty: not said.
  double queued = 0;                 // Waited for.
  double while_idle = 0;             // Of it, while as many were held and idle.
  std::optional<double> while_free;  // Of it, while as many were free; if the capacity is known.
};

// By kind, most waited for first; those that nobody waited for are not there. Linear in jobs, idle
// spells and minutes.
std::vector<Waiting> waiting_of(const FleetUsage& usage, const Stop& stop);

}  // namespace amdahl::scan
