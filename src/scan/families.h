// families.h: the family of every job of a scan.
#pragma once

#include <functional>

#include "scan/family.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

// Like the other families_of(), but ends early on `stop`; then the result is incomplete.
Families families_of(const FleetUsage& usage, Recogniser recogniser,
                     const std::function<bool()>& stop);

}  // namespace amdahl::scan
