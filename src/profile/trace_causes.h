// trace_causes.h: what a trace showed into causes, evidence and the class of the bottleneck.
#pragma once

#include "profile/trace_report.h"

namespace amdahl::profile {

// Fills report.profile from the rest of the report. Seconds and shares are of the time from first
// to last event of each device, all devices together; without devices, of the marked steps.
void conclude(const Prepared& prepared, TraceReport& report);

}  // namespace amdahl::profile
