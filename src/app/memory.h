// memory.h: what the ledger remembers of ideas that are the same as a new one, or near to it.
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

// An earlier hypothesis, how near it is, and what became of it.
struct Remembered {
  ledger::HypothesisRow row;
  std::optional<model::Verdict> verdict;
  hypothesize::Nearness nearness = hypothesize::Nearness::kNone;
};

// Of all families; the nearest first, then those of the same family, then the newest. A
// hypothesis with the idea's key is the same change, however it is spelled.
Result<std::vector<Remembered>> recall(Context& context, const model::Hypothesis& idea,
                                       std::size_t at_most = 5);

// What came of an idea that somebody proposed.
struct Proposal {
  std::optional<model::Hypothesis> accepted;  // Live now.
  bool resumed = false;                       // It was parked, and goes on.
  std::string refused;                        // Why it was not accepted.
  std::vector<Remembered> known;              // The same idea and near ones, without itself.
};

// As propose_change(); what the ledger already holds is an answer and not an error.
Result<Proposal> propose(Context& context, const std::string& family, const Idea& idea);

}  // namespace amdahl::app
