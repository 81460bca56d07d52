// allocation.h: resources of a worker inside its own allocation, and their split between arms.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/launcher.h"
#include "model/plan.h"

namespace amdahl::launch::local {

// Switches this process to the environment that the run was reserved with; unpinned variables
// stay. Variables set by modules of the job script win.
Result<> take_environment(const std::string& state_dir, const PairRequest& request);

// Whether modules were loaded: then the environment is the site's and has no digest.
bool has_modules();

// The arms' CPUs, out of those that the process may use. Empty (no pinning) if the scheduler did
// not confine the job and all arms use the same number. `job` separates runs on the same host.
std::vector<int> cpus_for(const PairRequest& request, std::vector<int> usable, int job);

// Limits the arm to the devices that it claims: the first entries of each list set by scheduler or
// plan (CUDA_VISIBLE_DEVICES and similar). Returns how many there were if some are kept from it,
// else 0.
int limit_devices(const Environment& environment, model::Plan& plan);

// A new folder on a local disk of this node; empty if that fails.
std::string make_scratch(const std::string& name);

// Moves the contents of `scratch` into the run's folder.
Result<> keep_scratch(const std::string& scratch, const std::string& run_dir);

}  // namespace amdahl::launch::local
