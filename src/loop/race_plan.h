// race_plan.h: what to do about values of one setting that wait for a test.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loop/next.h"

namespace amdahl::loop {

struct Race {
  std::string family;
  double noise = 0;      // Deviation of a pair.
  int most = 1;          // Values that one block holds.
  bool may_run = false;  // There is room for another block.
};

// Nothing if `queued` is in no race, and is to be tested as it is. `waiting`: all of its family,
// by worth.
std::optional<std::vector<Intent>> settle_race(
    const Race& race, std::span<const std::pair<double, const Queued*>> waiting,
    const Queued& queued);

}  // namespace amdahl::loop
