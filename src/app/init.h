// init.h: creates the state folder, its ledger and a configuration.
#pragma once

#include <string>

#include "app/config.h"
#include "base/result.h"

namespace amdahl::app {

struct Initialised {
  Config config;
  std::string file;      // Path of the configuration.
  bool written = false;  // False: it existed and was kept.
};

// The configuration goes where --config or $AMDAHL_CONFIG says, else into the state folder.
Result<Initialised> initialise(const Overrides& overrides, bool replace);

}  // namespace amdahl::app
