// html.h: a fleet's report as a self-contained HTML page.
#pragma once

#include <string>
#include <vector>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

struct Imprint {
  By by = By::kFamily;                // Rows of the table.
  Order order = Order::kRecoverable;  // Their ranking.
  std::string made;                   // Creation time, for people.
  std::vector<std::string> missing;   // Data that sources did not return.
};

// The split, the Pareto curve and the worst jobs' timelines as SVG; the ranked rows as a table,
// sortable with scripts. Needs no network; supports dark and light, narrow screens and print. All
// text from jobs is escaped.
std::string html_page(const FleetUsage& usage, const Families& families, const Report& report,
                      const Imprint& imprint);

}  // namespace amdahl::scan
