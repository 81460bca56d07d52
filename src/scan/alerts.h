// alerts.h: Prometheus alert rules against the waste that a scan found.
#pragma once

#include <string>

#include "base/result.h"
#include "scan/report.h"

namespace amdahl::scan {

// A rule file (YAML) with one rule per kind of waste that was found and that the scan's metric can
// show. Fails if exporters do not serve that metric.
Result<std::string> alert_rules(const Report& report);

}  // namespace amdahl::scan
