// html_parts.h: the pictures of a fleet's page, as inline SVG.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"
#include "scan/anatomy.h"
#include "scan/report.h"

namespace amdahl::scan {

std::string minute_of(Nanos unix_time);  // "2026-11-17 16:40", in UTC.

// One bar in four parts, with its legend below.
std::string split_picture(const Split& split);
// One bar of all that the fleet had: down, unallocated, and what was allocated in four parts. Empty
// where what there was is not known.
std::string capacity_picture(const CapacityUse& capacity, bool observed);
// Share of the rows against share of the waste they hold.
std::string pareto_picture(const Pareto& pareto, std::string_view rows);
// Each accelerator a lane over time; idle, low, productive, unobserved.
std::string lanes_picture(const Anatomy& anatomy);
// Waste window by window, if the report has it: the fleet's with a table, then each family's.
std::string trend_section(const Report& report);

}  // namespace amdahl::scan
