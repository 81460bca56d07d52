// calibration.h: what proposers predicted against what was measured, by origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "hypothesize/priors.h"

namespace amdahl::app {

struct CalibrationRow {
  std::string origin;  // "playbook", "injection", "code", "dream", "person", "agent mcp:NAME".
  int proposed = 0;
  int tested = 0;  // Came to a verdict that says whether it works.
  int promoted = 0;
  double chance = 0;                     // Mean of what was predicted for those tested, 0 to 1,
  std::optional<double> frequency;       // and how many were promoted.
  std::optional<double> brier;           // Mean squared error of the chance: 0 is perfect.
  int measured = 0;                      // Of those tested, with pairs.
  std::optional<double> predicted_gain;  // Means over them, as shares of the cost.
  std::optional<double> measured_gain;
  std::optional<double> gain_error;  // Mean absolute difference of the two.
};

struct Calibration {
  std::vector<CalibrationRow> origins;  // Those with most promotions first.
  hypothesize::Priors priors;           // Class × kind, as they are used for the next idea.
};
Result<Calibration> calibrate(Context& context);

// From every verdict of the ledger.
Result<hypothesize::Priors> learnt_priors(Context& context);

}  // namespace amdahl::app
