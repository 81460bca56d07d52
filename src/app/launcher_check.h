// launcher_check.h: tests a launcher plug-in on its real scheduler: `amdahl launcher check`.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "base/units.h"
#include "launch/conformance.h"

namespace amdahl::app {

struct LauncherCheck {
  std::string plug_in;
  std::size_t rules = 0;  // Rules tested.
  std::vector<launch::Breach> breaches;
};

// Runs about ten very short jobs in a folder of the state, which nodes must see, and removes it.
// kBadInput if a program of the plug-in is missing.
Result<LauncherCheck> check_launcher(const Config& config, const std::string& plug_in,
                                     Nanos patience);

}  // namespace amdahl::app
