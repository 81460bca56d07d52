// assumptions.h: assumptions of a scan where its inputs are ambiguous.
#pragma once

#include <optional>

#include "scan/fleet_usage.h"

namespace amdahl::scan {

// Share of the totals; smaller effects are not reported.
inline constexpr double kWorthAWord = 0.01;

// For a default window: the share of the jobs' time outside it, if worth reporting.
std::optional<Assumption> left_out_by(const FleetUsage& usage);

}  // namespace amdahl::scan
