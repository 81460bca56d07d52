// failures.h: accelerator time in jobs that failed, by state and reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Accelerator-seconds within the window.
struct Failure {
  std::string_view state;  // "FAILED", "TIMEOUT", "PREEMPTED", ...; "REQUEUED": see below.
  std::string reason;      // "exit 1", "signal 9"; empty: unknown.
  std::uint64_t jobs = 0;
  std::uint64_t users = 0;
  double allocated = 0;
  double productive = 0;  // Work that may have to be repeated.
  std::string worst_job;  // The job that held most.
};

// Most allocated first: lost (FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY), preempted, or requeued:
// an attempt of another state, but COMPLETED, that was followed by a later attempt of the same job
// and user.
std::vector<Failure> failures_of(const FleetUsage& usage, const Stop& stop);

}  // namespace amdahl::scan
