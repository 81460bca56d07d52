// frozen.h: whether a tree still has the commit's tests, checks and lines that report.
#pragma once

#include <string>

#include "base/result.h"
#include "launch/local/tree_steps.h"
#include "model/spec.h"

namespace amdahl::launch::local {

// Notes beside the tree, which nobody has touched yet, where its repository is.
Result<> keep_git_file(const std::string& tree);

// Compares what is frozen (model/frozen.h) by git's digests, and lines that report by a digest of
// their text. A build may neither lead git elsewhere nor add what says how tests run. Files that
// `accepted` touches are left out: a person approved that patch. kBadInput with the path if
// something differs.
Result<> check_frozen(const model::Spec& spec, const std::string& accepted, const std::string& tree,
                      const std::string& commit, Steps& steps);

}  // namespace amdahl::launch::local
