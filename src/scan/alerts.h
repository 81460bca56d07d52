// alerts.h: Prometheus alert rules against the waste that a scan found.
#pragma once

#include <string>

#include "base/result.h"
#include "scan/report.h"

namespace amdahl::scan {

// A rule file (YAML) with a rule for each kind of waste that was found and that the metric of the
// scan can show. An error if that metric is not one that exporters serve.
Result<std::string> alert_rules(const Report& report);

}  // namespace amdahl::scan
