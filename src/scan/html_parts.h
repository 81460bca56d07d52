// html_parts.h: the pictures of a fleet's page, as inline SVG.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"
#include "scan/anatomy.h"
#include "scan/report.h"

namespace amdahl::scan {

std::string_view page_style();  // Of the pages of a fleet.

std::string minute_of(Nanos unix_time);  // "2026-11-17 16:40", in UTC.

// One bar in four parts, with a legend below.
std::string split_picture(const Split& split);
// One bar of the fleet's capacity: down, unallocated, and allocated in four parts. Empty if the
// capacity is unknown.
std::string capacity_picture(const CapacityUse& capacity, bool observed);
// Share of the rows against their share of the waste.
std::string pareto_picture(const Pareto& pareto, std::string_view rows);
// One lane per accelerator over time: idle, low, productive, unobserved.
std::string lanes_picture(const Anatomy& anatomy);
// Waste per time window, if in the report: the fleet with a table, then each family.
std::string trend_section(const Report& report);

}  // namespace amdahl::scan
