// source.h: which code a job that is run as it lies there would run.
#pragma once

#include <string>

#include "model/spec.h"

namespace amdahl::launch {

// The tree of HEAD in the spec's repo, and with "+" a digest of what differs from it in files that
// git follows, less the spec's outputs. Empty without a repo, and if git cannot tell.
std::string source_of(const model::Spec& spec);

}  // namespace amdahl::launch
