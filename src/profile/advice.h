// advice.h: what to try against a cause of a job's profile.
#pragma once

#include <string_view>

#include "model/profile.h"

namespace amdahl::profile {

// One line for every cause; empty for compute, where waiting is not the matter.
std::string_view what_to_try(const model::Cause& cause);

// The class of the cause that evidence stands for ("input_wait_share"); kUnknown if for none.
model::Bottleneck class_of(std::string_view evidence);

}  // namespace amdahl::profile
