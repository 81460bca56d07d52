// source.h: identifies the source code that an unpatched job would run.
#pragma once

#include <string>

#include "model/spec.h"

namespace amdahl::launch {

// The tree of HEAD in the spec's repo; if tracked files differ from it, "+" and a digest of the
// difference, without the spec's outputs. Empty without a repo, or if git fails.
std::string source_of(const model::Spec& spec);

}  // namespace amdahl::launch
