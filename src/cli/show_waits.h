// show_waits.h: what a job's threads waited for, as people read it.
#pragma once

#include <string>

#include "app/job_profile.h"
#include "cli/options.h"

namespace amdahl::cli {

// Threads by role, the places that waited, the lines that took longest, who woke whom, disks.
std::string show_waits(const Flags& flags, const profile::WaitsReport& report);

}  // namespace amdahl::cli
