// ceilings.h: measures what a cause costs: a command without the cause against itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/reconcile.h"
#include "app/run.h"
#include "base/result.h"
#include "model/profile.h"

namespace amdahl::app {

struct CeilingOptions {
  RunOptions run;
  std::vector<std::string> causes;  // "input", "logging", "checkpoint".
  int pairs = 4;
  Say say;
  std::function<bool()> stopped;
};

// Wall-time speed-ups if the cause vanished.
struct Ceiling {
  std::string cause;
  std::optional<double> computed;  // Upper bound from the profile; nothing if unknown.
  double measured = 1;
  double lower = 1;  // 95 %.
  double upper = 1;
  int pairs = 0;
  std::string problem;  // Why it could not be measured; empty if it was.
};

// kBadInput for a cause that cannot be removed from outside.
Result<> check_causes(const std::vector<std::string>& causes);

// Runs the command unchanged and once without each cause, in random order, this many times. Causes
// are removed by the fixes ceiling-CAUSE of playbook/inject/, which are never proposed as changes.
// kExternal if the unchanged command fails.
Result<std::vector<Ceiling>> measure_ceilings(const Config& config, const CeilingOptions& options,
                                              const model::Profile& profile);

}  // namespace amdahl::app
