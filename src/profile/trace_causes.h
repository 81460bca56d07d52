// trace_causes.h: turns the analysis of a trace into causes, evidence and a class.
#pragma once

#include "profile/trace_report.h"

namespace amdahl::profile {

// Fills report.profile from the rest of the report. Seconds and shares refer to the time from
// first to last event of each device, all devices together; without devices, to the marked steps.
void conclude(const Prepared& prepared, TraceReport& report);

}  // namespace amdahl::profile
