// device_facts.h: what a trace of a job's devices says about the whole job.
#pragma once

#include "base/units.h"
#include "profile/classify.h"
#include "profile/trace_report.h"

namespace amdahl::profile {

// Evidence: share of the wall time in which the busiest device computed, a lower bound for any fix
// on the host. Only if the trace covers the whole job.
inline constexpr const char* kDeviceComputes = "device_compute_share";

// All evidence of the trace. If it has devices and covers most of `wall`, also causes: the host
// waited for the device, copies, and host work that devices waited for.
Facts facts_of(const TraceReport& report, Nanos wall);

// Whether the cause is one of those.
bool is_of_devices(const model::Cause& cause);

}  // namespace amdahl::profile
