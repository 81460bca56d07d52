// calibration.h: predictions against measurements, by origin of the idea.
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
  int tested = 0;  // Tested to a conclusive verdict.
  int promoted = 0;
  double chance = 0;                     // Mean predicted probability of those,
  std::optional<double> frequency;       // and the share promoted.
  std::optional<double> brier;           // Mean squared error of the probability: 0 is perfect.
  int measured = 0;                      // Tested with pairs.
  std::optional<double> predicted_gain;  // Means over them, as shares of the cost.
  std::optional<double> measured_gain;
  std::optional<double> gain_error;  // Mean absolute difference of the two.
};

struct Calibration {
  std::vector<CalibrationRow> origins;  // Most promotions first.
  hypothesize::Priors priors;           // Class × kind, as used for the next idea.
};
Result<Calibration> calibrate(Context& context);

// From every verdict in the ledger.
Result<hypothesize::Priors> learnt_priors(Context& context);

}  // namespace amdahl::app
