// environment.h: the environment that arms inherit, pinned so that it is equal for all pairs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::launch {

using Environment = std::map<std::string, std::string>;

Environment own_environment();  // Of this process.

// Secrets, and variables of the session or allocation (sockets, devices, job id), are taken when a
// run starts: pinned, they would be stored or outdated.
bool is_pinned(std::string_view variable);

// 16 hex digits over the pinned variables.
std::string digest(const Environment& environment);

// Stores the pinned variables under their digest, in <state_dir>/environments.
Result<> keep_environment(const std::string& state_dir, const Environment& environment);
Result<Environment> kept_environment(const std::string& state_dir, const std::string& digest);

// A worker's environment: the stored variables, plus those of `now` that are not pinned.
Environment with_live(Environment kept, const Environment& now);

// Names of pinned variables that differ.
std::vector<std::string> differences(const Environment& a, const Environment& b);

}  // namespace amdahl::launch
