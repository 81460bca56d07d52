// waiting.h: accelerators requested in the queue while others of that kind were idle, by minute.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Accelerator-seconds within the window. For each minute (for windows above 138 days: two or
// more): what queued jobs requested against what was held idle (in spells of at least
// kLeastSpell), and against what was free.
struct Waiting {
  std::string kind;                  // Accelerator model; empty: unknown.
  double queued = 0;                 // Requested while waiting.
  double while_idle = 0;             // Of that, while as many were held and idle.
  std::optional<double> while_free;  // Of that, while as many were free; if the capacity is known.
};

// By kind, most queued first, without kinds that nobody waited for. Linear in jobs, idle spells
// and minutes.
std::vector<Waiting> waiting_of(const FleetUsage& usage, const Stop& stop);

}  // namespace amdahl::scan
