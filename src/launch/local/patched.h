// patched.h: a git worktree with a patch applied and built, created once per commit and patch.
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
// `trees_dir` that has the plan's patch. The build command runs if the spec has one, then its
// check. The user's checkout is never written to. Errors say which step failed and how.
Result<model::Plan> in_patched_tree(const model::Spec& spec, const model::Plan& plan,
                                    const std::string& trees_dir, const std::string& commit = {});

// The same, with the cost of creating the tree, also on failure; nothing if it existed already. A
// failed patch or build is not retried for an hour: the error is kept.
struct Patched {
  Result<model::Plan> plan;
  model::NeverRuns never = model::NeverRuns::kNo;  // Whether another attempt would fail too.
  Nanos wall{};
  Nanos cpu{};
  std::string tree{};
  bool reached = false;  // The tree is built, whatever becomes of the plan in it.
};
// How far the patch is trusted.
struct Trust {
  bool sandbox = false;       // Build and check run in bubblewrap, and the tree is no other's.
  bool by_agent = false;      // What is frozen must be what it is in the commit,
  std::string accepted = "";  // but for files of this patch, which a person approved.
};
// Where that is, and whether nothing is left to build there: it is built, or was shown to fail.
Result<std::string> tree_path(const model::Spec& spec, const model::Plan& plan,
                              const std::string& trees_dir, const std::string& commit,
                              const Trust& trust);
bool is_built(const std::string& tree);
// Only makes and builds the tree; its check is left to the run that needs it.
Patched build_tree(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
                   const std::string& commit, const Trust& trust = {});
Patched make_patched(const model::Spec& spec, const model::Plan& plan, const std::string& trees_dir,
                     const std::string& commit, const Trust& trust = {});

}  // namespace amdahl::launch::local
