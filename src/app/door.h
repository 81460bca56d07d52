// door.h: what a door (command line, server) needs of this machine: the time, who asks, files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

Nanos unix_now();
Nanos monotonic_now();  // For durations.

// `as` if it names someone, else the login that runs this program.
std::string user_or(const std::string& as);

// Writes what a person asked for by name (a page, an export): readable as the umask allows.
Result<> write_output(const std::string& path, std::string_view text);

// What the launcher starts as `amdahl exec`: runs the pair whose request is in this folder.
Result<> run_pair_in(const std::string& folder);

}  // namespace amdahl::app
