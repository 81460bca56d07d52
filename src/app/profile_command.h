// profile_command.h: any command once under all collectors, without a spec and outside the loop.
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
  bool nsys = false;      // Inside Nsight Systems,
  bool ncu = false;       // or Nsight Compute; not both.
  bool syscalls = false;  // Counted too, which costs every process of the host 0.2 µs a call.
};

struct CommandProfile {
  model::Receipt receipt;
  std::string folder;  // What the collectors left stays here.
  JobProfile joined;
  bool cut_short = false;  // It was ended from outside.
};

// The job runs once, with the PyTorch hook, the injected library and the record of waits; its
// times hold what they cost. A job that fails is profiled as far as it came, one that cannot
// be started not at all.
Result<CommandProfile> profile_command(const Config& config, const ProfileCommand& command);

}  // namespace amdahl::app
