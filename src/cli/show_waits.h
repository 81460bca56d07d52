// show_waits.h: prints what a job's threads waited for.
#pragma once

#include <string>

#include "app/job_profile.h"
#include "cli/options.h"

namespace amdahl::cli {

// Threads by role, where they waited, the slowest lines, who woke whom, disks.
std::string show_waits(const Flags& flags, const profile::WaitsReport& report);

}  // namespace amdahl::cli
