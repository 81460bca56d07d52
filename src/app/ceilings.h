// ceilings.h: what a cause costs at most, measured: a command without the cause against itself.
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

// Speed-ups by wall time if the cause vanished.
struct Ceiling {
  std::string cause;
  std::optional<double> computed;  // At most, by the profile; nothing if it does not know.
  double measured = 1;
  double lower = 1;  // 95 %.
  double upper = 1;
  int pairs = 0;
  std::string problem;  // Why nothing was measured; empty if something was.
};

// kBadInput for a cause that cannot be removed from outside.
Result<> check_causes(const std::vector<std::string>& causes);

// Runs the command as it is and once without each cause, in an order by luck, so many times. The
// causes are removed by the fixes ceiling-CAUSE of playbook/inject/, which nothing proposes and
// propose refuses. kExternal if the command as it is fails.
Result<std::vector<Ceiling>> measure_ceilings(const Config& config, const CeilingOptions& options,
                                              const model::Profile& profile);

}  // namespace amdahl::app
