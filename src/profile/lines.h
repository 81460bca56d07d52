// lines.h: what single lines of a job's source cost it while it ran.
#pragma once

#include <string>

namespace amdahl::profile {

// Time that a job's main thread spent in a line, libraries that it called included.
struct LineCost {
  std::string file;  // Absolute, as the job's interpreter or compiler knows it.
  int line = 0;      // From 1.
  std::string function;
  bool in_steps = false;  // While it took batches; else before the first.
  double seconds = 0;
  bool waits_only = false;    // What it computed was not seen: a line that is not there may cost.
  bool imports = false;       // It imported: the time is that of the modules.
  bool in_input = false;      // In a step, while a batch was made or waited for.
  bool makes_loader = false;  // It made a loader; no time is told of it.

  friend bool operator==(const LineCost&, const LineCost&) = default;
};

}  // namespace amdahl::profile
