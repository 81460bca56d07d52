// device_facts.h: what a trace of a job's devices says of the job as a whole.
#pragma once

#include "base/units.h"
#include "profile/classify.h"
#include "profile/trace_report.h"

namespace amdahl::profile {

// The part of the job's wall time that its busiest device computed: what no fix of the host can
// undercut. In the evidence where the trace is of the whole job.
inline constexpr const char* kDeviceComputes = "device_compute_share";

// All of its evidence. Where the trace has devices and lasts for most of `wall`, causes, too: that
// the host waited for the device, copies, and work of the host that devices waited for.
Facts facts_of(const TraceReport& report, Nanos wall);

// Whether the cause is one of those.
bool is_of_devices(const model::Cause& cause);

}  // namespace amdahl::profile
