// families.h: the family of every job of a scan.
#pragma once

#include <functional>

#include "scan/family.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

// As families_of() without it; once `stop` says so it ends, and what it gives is not complete.
Families families_of(const FleetUsage& usage, Recogniser recogniser,
                     const std::function<bool()>& stop);

}  // namespace amdahl::scan
