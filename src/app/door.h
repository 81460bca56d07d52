// door.h: what the doors (command line, server) need from this machine: time, user, files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

Nanos unix_now();
Nanos monotonic_now();  // For durations.

// `as` if not empty, else the login that runs this program.
std::string user_or(const std::string& as);

// Writes a file that a person named (a page, an export), with the permissions of the umask.
Result<> write_output(const std::string& path, std::string_view text);

// Body of `amdahl exec`: runs the pair whose request is in this folder.
Result<> run_pair_in(const std::string& folder);
Result<> observe_node_in(const std::string& folder);

// And of its webhook worker; `config` may be empty. Nothing to do if another one is at work.
Result<> send_webhooks_in(const std::string& state_dir, const std::string& config);

}  // namespace amdahl::app
