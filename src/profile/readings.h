// readings.h: what was read of a trace otherwise than its files have it, and what was left out.
#pragma once

#include "profile/trace_report.h"

namespace amdahl::profile {

// Waiting for ranks whose files begin later says nothing: it is no part of anything.
Nanos unseen_of(const TraceReport& report);

// From the first to the last event of each device, without what is unseen.
Nanos allocated_of(const TraceReport& report);

// Fills `readings`, and adds these and lesser ones to what is missing.
void add_readings(const Prepared& prepared, TraceReport& report);

}  // namespace amdahl::profile
