// readings.h: what the analysis changed or left out of a trace, reported to the reader.
#pragma once

#include "profile/trace_report.h"

namespace amdahl::profile {

// Time spent waiting for ranks whose files begin later: excluded everywhere.
Nanos unseen_of(const TraceReport& report);

// From the first to the last event of each device, without unseen_of().
Nanos allocated_of(const TraceReport& report);

// Fills `readings`, and adds these and minor ones to profile.missing.
void add_readings(const Prepared& prepared, TraceReport& report);

}  // namespace amdahl::profile
