// environment.h: what arms inherit: pinned once, so that no variable reaches one pair and
// not another.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::launch {

using Environment = std::map<std::string, std::string>;

Environment own_environment();  // Of this process.

// Secrets, and what names the session or the allocation (its sockets, devices and job id), are as
// they are when a run starts: a pinned one would be stored, or be out of date.
bool is_pinned(std::string_view variable);

// 16 hex digits over what is pinned of it.
std::string digest(const Environment& environment);

// Keeps what is pinned of it under its digest, in <state_dir>/environments.
Result<> keep_environment(const std::string& state_dir, const Environment& environment);
Result<Environment> kept_environment(const std::string& state_dir, const std::string& digest);

// What a worker is started with: the kept one, and of `now` what is not pinned.
Environment with_live(Environment kept, const Environment& now);

// Names of pinned variables in which the two differ.
std::vector<std::string> differences(const Environment& a, const Environment& b);

}  // namespace amdahl::launch
