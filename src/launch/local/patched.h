// patched.h: a git worktree with a patch applied and built, made once per commit and patch.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::launch::local {

// The plan, with its workdir, the files that its command names and the folders of its search paths
// (PYTHONPATH) moved from the spec's repo into a worktree of `commit`, or of the repo's HEAD, under
// `trees_dir` that has the plan's patch. The build command runs if the spec has
// one. The user's checkout is never written to. Errors say which step failed and how.
Result<model::Plan> in_patched_tree(const model::Spec& spec, const model::Plan& plan,
                                    const std::string& trees_dir, const std::string& commit = {});

// The same, with what it took to make the tree now, also where that failed; nothing if it was there
// already. What did not apply or build is not tried again for an hour: the error is kept.
struct Patched {
  Result<model::Plan> plan;
  model::NeverRuns never = model::NeverRuns::kNo;  // Whether it would fail as well another time.
  Nanos wall{};
  Nanos cpu{};
};
Patched make_patched(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
                     const std::string& commit);

}  // namespace amdahl::launch::local
