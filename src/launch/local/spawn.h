// spawn.h: starts a program that outlives us.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/environment.h"

namespace amdahl::launch::local {

// Runs it in its own session, not as our child, with stdin from /dev/null, output to `log`, and
// only these variables. Returns once the program runs; fails if exec fails.
Result<> spawn_detached(const std::vector<std::string>& argv, const Environment& environment,
                        const std::string& log);

}  // namespace amdahl::launch::local
