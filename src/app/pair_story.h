// pair_story.h: the pairs of an experiment, and what was known after each of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "model/hypothesis.h"
#include "model/pair.h"

namespace amdahl::app {

struct PairStep {
  model::Pair pair;
  std::optional<double> effect{};  // ln(cost A / cost B); nothing while it runs, or if it is void.
  std::string void_because{};      // Empty if it counts.
  // Of all pairs up to this one; nothing where it adds no evidence: it is void, a top-up, or one
  // before it still runs.
  std::optional<model::Comparison> after{};
};

struct PairStory {
  model::Experiment experiment;
  std::string work_unit;
  double e_better = 20;           // At which the answer is "better".
  std::vector<PairStep> steps{};  // In the order of their coins; top-ups last.
};

// By hypothesis or experiment, or a unique prefix. kNotFound if nothing was registered yet.
Result<PairStory> pairs_of(Context& context, const std::string& id);

}  // namespace amdahl::app
