// lines.h: cost of single lines of a job's source.
#pragma once

#include <string>

namespace amdahl::profile {

// Time that a job's main thread spent on a line, including library calls.
struct LineCost {
  std::string file;  // Absolute, as in the interpreter or debug information.
  int line = 0;      // 1-based.
  std::string function;
  bool in_steps = false;  // During the steps; else before the first one.
  double seconds = 0;
  bool waits_only = false;  // Only waits were recorded: lines that are missing may still cost time.
  bool imports = false;     // Time of importing modules.
  bool in_input = false;    // In a step, while a batch was made or waited for.
  bool makes_loader = false;  // It created a loader; its time is not recorded.

  friend bool operator==(const LineCost&, const LineCost&) = default;
};

}  // namespace amdahl::profile
