// evidence.h: everything known of one claim, gathered for the panel.
#pragma once

#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"
#include "refute/check.h"

namespace amdahl::app {

// All pairs of an experiment, by index; and the indices still open.
struct Pairs {
  std::vector<model::PairFact> facts;
  std::vector<int> open;
};
Pairs pairs_in(const std::vector<ledger::Run>& runs);

// A family's runs since `not_before`, and as far back as its last success, oldest first: a long
// history costs nothing.
Result<std::vector<ledger::Run>> recent_runs(Context& context, const std::string& family,
                                             const std::string& purpose, Nanos not_before);

// Older A/A pairs no longer say how noisy the family is.
Nanos same_not_before(Context& context);

// A/A pairs of a family that are young enough to count.
Result<std::vector<model::PairFact>> same_pairs(Context& context, const std::string& family);

// `family` must outlive the evidence, which points at its spec.
Result<refute::Evidence> evidence_of(Context& context, const ledger::Family& family,
                                     const model::Experiment& experiment,
                                     const model::Hypothesis& hypothesis,
                                     const std::vector<ledger::Run>& runs, bool topped_up);

}  // namespace amdahl::app
