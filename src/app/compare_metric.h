// compare_metric.h: which number of a run `amdahl compare` compares, and how people speak of it.
#pragma once

#include <string>

#include "app/compare_pair.h"
#include "base/result.h"
#include "compare/account.h"
#include "model/receipt.h"

namespace amdahl::app {

// Puts the metric and the patterns into both specs, or says what is wrong with them.
Result<> set_metric(CompareQuestion& question);

compare::MetricText metric_text_of(const CompareQuestion& question);

// Adds to the receipt the number that the question asks for, if it is not among those reported;
// `out_dir` holds what the run printed.
void measure(const CompareQuestion& question, const std::string& out_dir, model::Receipt& receipt);

// What keeps the arm's run from being compared: how it failed, with its last words, or which number
// is missing; empty if nothing does.
std::string complaint(const CompareQuestion& question, const model::Spec& spec,
                      const model::Receipt& receipt);

}  // namespace amdahl::app
