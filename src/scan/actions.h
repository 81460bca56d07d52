// actions.h: what to do about a fleet's waste, by lever: hours, people, how sure, and the command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/lever.h"
#include "scan/report.h"

namespace amdahl::scan {

struct ActionOptions {
  std::string scan = "amdahl scan";            // The command that reads these inputs again.
  std::function<double(WordId kind)> price{};  // USD an accelerator-hour; NaN: none.
};

// Confirmed ones first, each by what comes back.
std::vector<Action> actions_of(const FleetUsage& usage, const JobParts& parts,
                               const Policies& policies, const ActionOptions& options,
                               const Stop& stop);

}  // namespace amdahl::scan
