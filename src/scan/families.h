// families.h: the family of every job of a scan.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scan/family.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

// Like the other families_of(), but ends early on `stop`; then the result is incomplete.
Families families_of(const FleetUsage& usage, Recogniser recogniser,
                     const std::function<bool()>& stop);

// For each family, how many jobs of the same name, script and user are in families of other sizes.
std::vector<std::uint32_t> jobs_of_other_sizes(const Families& families);

// Why a family has one job: "the only one of its name and user", or how many there are of other
// sizes. Empty if a label or a rule of the configuration made the family.
std::string why_alone(const Family& family, std::uint32_t of_other_sizes);

}  // namespace amdahl::scan
