// profile_command.h: runs any command once under all collectors, without a spec.
#pragma once

#include <string>

#include "app/config.h"
#include "app/job_profile.h"
#include "app/run.h"
#include "base/result.h"
#include "model/receipt.h"

namespace amdahl::app {

struct ProfileCommand {
  RunOptions run;
  bool nsys = false;  // Run inside Nsight Systems,
  bool ncu = false;   // or Nsight Compute; not both.
  // Count system calls too: costs every process of the host 0.2 µs per call.
  bool syscalls = false;
};

struct CommandProfile {
  model::Receipt receipt;
  std::string folder;  // Data of the collectors; kept.
  JobProfile joined;
  bool cut_short = false;  // Ended from outside.
};

// Runs the job once with the PyTorch hook, the injected library and the wait recorder; its times
// include their overhead. A failed job is profiled as far as it got; one that cannot be started is
// an error.
Result<CommandProfile> profile_command(const Config& config, const ProfileCommand& command);

}  // namespace amdahl::app
