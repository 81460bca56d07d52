// course.h: how a hooked job went, in lines: its start, its steps, and what watching cost it.
#pragma once

#include <string>
#include <vector>

#include "model/profile.h"

namespace amdahl::profile {

// From the evidence alone; empty where there was no hook.
std::vector<std::string> course_of(const model::Profile& profile);

}  // namespace amdahl::profile
