// own_html.h: what the jobs of one user or account wasted, as a self-contained HTML page.
#pragma once

#include <string>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

struct OwnImprint {
  By by = By::kUser;  // Or an account.
  std::string name;   // Somebody with jobs in `usage`.
  std::string made;   // Creation time, for people.
};

// Their split, their worst jobs with what usually helps, and timelines of the first. All text from
// jobs is escaped.
std::string own_html(const FleetUsage& usage, const Families& families, const Report& report,
                     const OwnImprint& imprint);

}  // namespace amdahl::scan
