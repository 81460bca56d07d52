// compare_metric.h: which number of a run `amdahl compare` compares, and its unit for people.
#pragma once

#include <string>

#include "app/compare_pair.h"
#include "base/result.h"
#include "compare/account.h"
#include "model/receipt.h"

namespace amdahl::app {

// Puts the metric and the patterns into both specs; fails if they are invalid.
Result<> set_metric(CompareQuestion& question);

compare::MetricText metric_text_of(const CompareQuestion& question);

// Adds the requested number to the receipt if the job did not report it; `out_dir` has the run's
// output.
void measure(const CompareQuestion& question, const std::string& out_dir, model::Receipt& receipt);

// Why the arm's run cannot be compared: how it failed, with its last output, or which number is
// missing; empty if it can.
std::string complaint(const CompareQuestion& question, const model::Spec& spec,
                      const model::Receipt& receipt);

}  // namespace amdahl::app
