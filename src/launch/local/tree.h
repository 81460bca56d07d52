// tree.h: a patched copy of the job's repository, made once per commit and change.
#pragma once

#include <string>

#include "base/result.h"
#include "model/plan.h"
#include "model/spec.h"

namespace amdahl::launch::local {

// The folder in which the patched job runs: a git worktree of the repo's HEAD below
// STATE/trees, patched and, if the plan needs it, built. Never touches the user's checkout.
Result<std::string> patched_tree(const std::string& state_dir, const model::Spec& spec,
                                 const model::Plan& plan);

}  // namespace amdahl::launch::local
