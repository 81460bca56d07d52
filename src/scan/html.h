// html.h: a fleet's report as a page that needs nothing but itself.
#pragma once

#include <string>
#include <vector>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

struct Imprint {
  By by = By::kFamily;                // The table's rows.
  Order order = Order::kRecoverable;  // What they are ranked by.
  std::string made;                   // When, for people.
  std::vector<std::string> missing;   // What sources did not give.
};

// The split, the Pareto curve and the worst jobs' lanes as SVG, the ranked rows as a table that
// sorts where scripts run. No network; dark and light, narrow screens and paper. All text from
// jobs is escaped.
std::string html_page(const FleetUsage& usage, const Families& families, const Report& report,
                      const Imprint& imprint);

}  // namespace amdahl::scan
