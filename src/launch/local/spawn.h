// spawn.h: starts a program that outlives us.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"

namespace amdahl::launch::local {

// In a session of its own, a child of none of ours, with /dev/null for input, `log` for output and
// no variables but these. Returns once the program runs; fails if it cannot be executed.
Result<> spawn_detached(const std::vector<std::string>& argv, const Environment& environment,
                        const std::string& log);

}  // namespace amdahl::launch::local
