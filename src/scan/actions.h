// actions.h: what to do about a fleet's waste, per lever: hours, users, confidence and command.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/lever.h"
#include "scan/report.h"

namespace amdahl::scan {

struct ActionOptions {
  std::string scan = "amdahl scan";            // Command that reads these inputs again.
  std::string end_jobs = "scancel";            // Command of the scheduler that ends jobs.
  std::function<double(WordId kind)> price{};  // USD per accelerator-hour; NaN: unknown.
  // How often changes against a bottleneck worked, of all families.
  std::map<model::Bottleneck, Tried> tried{};
};

// Confirmed ones first, each group by recovered time. Of waste that no rule recovers, what comes
// back is estimated by jobs of the same family that waste less (scan/peers.h), else published.
std::vector<Action> actions_of(const FleetUsage& usage, const Families& families,
                               const JobParts& parts, const Policies& policies,
                               const ActionOptions& options, const Stop& stop);

}  // namespace amdahl::scan
