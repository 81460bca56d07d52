// command.h: runs pairs through a plug-in: five programs that speak JSON with a scheduler.
#pragma once

#include <memory>
#include <string>

#include "launch/launcher.h"

namespace amdahl::launch::command {

// The plug-in's programs (submit, release, status, cancel, capacity) are in site.plug_in; what they
// read and print is in docs/format/launcher.md. Runs live in <state_dir>/runs/<reservation>, which
// the scheduler's nodes must see under the same path.
std::unique_ptr<Launcher> make(const Site& site);

std::string hardware(const Site& site, const std::string& family);

}  // namespace amdahl::launch::command
