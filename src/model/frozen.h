// frozen.h: what of a repo an agent's patch may not touch: tests, checks, and lines that report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/spec.h"

namespace amdahl::model {

// Whether the path (from the repo's root) is code that says whether the job did its work: tests,
// CI, git's own files, files that the spec's `check` names, and what the spec denies.
bool is_frozen(const Spec& spec, const std::string& path);

// Ok, or why a model's patch may not touch the file: it is frozen, outside of the repo, or not
// among the spec's `paths`.
Result<> may_touch(const Spec& spec, const std::string& path);

// Words whose lines are frozen in any file: a line with one of them reports what the job did.
std::vector<std::string> frozen_words(const Spec& spec);

// The longest text that every match of the regular expression contains, as far as it is plain;
// empty if that is shorter than 4 letters.
std::string plain_part(std::string_view pattern);

}  // namespace amdahl::model
