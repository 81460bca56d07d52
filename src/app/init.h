// init.h: makes the state folder, its ledger and a configuration.
#pragma once

#include <string>

#include "app/config.h"
#include "base/result.h"

namespace amdahl::app {

struct Initialised {
  Config config;
  std::string file;      // The configuration,
  bool written = false;  // or it was there and stayed.
};

// The configuration is written where --config or $AMDAHL_CONFIG says, else into the state folder.
Result<Initialised> initialise(const Overrides& overrides, bool replace);

}  // namespace amdahl::app
