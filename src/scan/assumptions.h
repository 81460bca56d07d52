// assumptions.h: what a scan took for granted where its inputs could be read in more than one way.
#pragma once

#include <optional>

#include "scan/fleet_usage.h"

namespace amdahl::scan {

inline constexpr double kWorthAWord = 0.01;  // Of the totals: what changes them by more is said.

// Of a window that nobody asked for: what of the jobs' time it leaves out, if that is worth a word.
std::optional<Assumption> left_out_by(const FleetUsage& usage);

}  // namespace amdahl::scan
