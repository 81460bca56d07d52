// allocation.h: what a worker finds in an allocation of its own, and what of it each arm gets.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/launcher.h"
#include "model/plan.h"

namespace amdahl::launch::local {

// This process goes on in the environment that the run was reserved under, with what is not pinned
// as it is here. Where the job script has loaded modules, theirs wins.
Result<> take_environment(const std::string& state_dir, const PairRequest& request);

// Whether modules were loaded: the environment is then the site's, and has no digest.
bool has_modules();

// The CPUs for the arms, of those that the process may use. Empty, so that no arm is pinned, where
// the scheduler did not confine the job and all arms use as many. `job` tells apart what runs
// beside each other.
std::vector<int> cpus_for(const PairRequest& request, std::vector<int> usable, int job);

// The arm sees no more devices than it claims: of each list that the scheduler or the plan sets
// (CUDA_VISIBLE_DEVICES and the like) the first.
void limit_devices(const Environment& environment, model::Plan& plan);

// A new folder on a disk of this node; empty if none can be made.
std::string make_scratch(const std::string& name);

// Moves what is in `scratch` into the run's folder.
Result<> keep_scratch(const std::string& scratch, const std::string& run_dir);

}  // namespace amdahl::launch::local
