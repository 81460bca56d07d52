// pair_story.h: the pairs of an experiment, and the estimate after each of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/json.h"
#include "base/result.h"
#include "model/hypothesis.h"
#include "model/pair.h"

namespace amdahl::app {

struct PairStep {
  model::Pair pair;
  std::optional<double> effect{};  // ln(cost A / cost B); nothing while it runs, or if void.
  std::string void_because{};      // Empty if it counts.
  // Over all pairs up to this one; nothing if it adds no evidence: void, a top-up, or an earlier
  // one still runs.
  std::optional<model::Comparison> after{};
};

struct PairStory {
  model::Experiment experiment;
  std::string work_unit;
  double e_better = 20;           // Threshold for "better".
  std::vector<PairStep> steps{};  // By index of the coin; top-ups last.
};

// By hypothesis, experiment or unique prefix. kNotFound if nothing was registered yet.
Result<PairStory> pairs_of(Context& context, const std::string& id);

// The receipts of one of these pairs, as its worker left them.
struct PairReceipt {
  std::string arm;
  std::optional<Json> receipt{};
  std::string missing{};  // Why there is none.
};
// kNotFound if the experiment has no such reservation.
Result<std::vector<PairReceipt>> receipts_of(Context& context, const std::string& id,
                                             const std::string& reservation);

}  // namespace amdahl::app
