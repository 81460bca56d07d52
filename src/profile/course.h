// course.h: how a hooked job ran, in lines: its start, its steps, and the cost of watching it.
#pragma once

#include <string>
#include <vector>

#include "model/profile.h"

namespace amdahl::profile {

// From the evidence alone; empty without the hook.
std::vector<std::string> course_of(const model::Profile& profile);

}  // namespace amdahl::profile
