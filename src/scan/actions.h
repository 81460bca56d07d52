// actions.h: what to do about a fleet's waste, per lever: hours, users, confidence and command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/lever.h"
#include "scan/report.h"

namespace amdahl::scan {

struct ActionOptions {
  std::string scan = "amdahl scan";            // Command that reads these inputs again.
  std::function<double(WordId kind)> price{};  // USD per accelerator-hour; NaN: unknown.
};

// Confirmed ones first, each group by recovered time.
std::vector<Action> actions_of(const FleetUsage& usage, const JobParts& parts,
                               const Policies& policies, const ActionOptions& options,
                               const Stop& stop);

}  // namespace amdahl::scan
