// memory.h: ideas in the ledger that equal or resemble a new one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/propose.h"
#include "base/result.h"
#include "hypothesize/near.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// An earlier hypothesis, how near it is, and its result.
struct Remembered {
  ledger::HypothesisRow row;
  std::optional<model::Verdict> verdict;
  hypothesize::Nearness nearness = hypothesize::Nearness::kNone;
};

// Over all families; the nearest first, then those of the same family, then the newest. A
// hypothesis with the idea's key is the same change in any spelling.
Result<std::vector<Remembered>> recall(Context& context, const model::Hypothesis& idea,
                                       std::size_t at_most = 5);

// The outcome of a proposed idea.
struct Proposal {
  std::optional<model::Hypothesis> accepted;  // Live now.
  bool resumed = false;                       // It was parked and continues.
  std::string refused;                        // Why it was not accepted.
  std::vector<Remembered> known;              // The same idea and similar ones, without itself.
};

// Like propose_change(), but an idea that the ledger already has is an answer, not an error.
Result<Proposal> propose(Context& context, const std::string& family, const Idea& idea);

}  // namespace amdahl::app
