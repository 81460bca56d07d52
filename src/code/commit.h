// commit.h: the edit of the source that does what an injection did from outside.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/source.h"

namespace amdahl::code {

// A fix of playbook/inject/ that acted, and where: "train.py:41: 0 → 2 workers".
struct Acted {
  std::string_view fix;
  std::string_view value;
  std::span<const std::string> where;
};

// A unified diff for `git apply`; empty if the fix has no mechanical edit, or if one of its places
// is not found in the sources or cannot be edited.
std::string commit_for(const Acted& acted, std::span<const Source> sources);

}  // namespace amdahl::code
