// show_job_profile.h: prints a job's profile: causes, lines, waits.
#pragma once

#include <string>

#include "app/job_profile.h"
#include "app/profile_command.h"
#include "cli/options.h"

namespace amdahl::cli {

// The causes, then the lines behind them with what to try and, if mechanical, the patch; then
// where the step thread waited.
std::string show_job_profile(const Flags& flags, const app::JobProfile& profile);

// `amdahl profile -- CMD`.
Result<int> profile_typed_command(const ProfileFlags& flags);

}  // namespace amdahl::cli
