// ledger_builder.h: ledgers of any length in which nothing is left to do.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace amdahl::bench {

// What is live is the same however long the history is.
struct History {
  int hypotheses = 1000;    // Ten events each.
  int families = 50;        // Each with a spec, a fresh profile and six fresh A/A pairs.
  int waiting = 20;         // Of the hypotheses: at the gate, until a person decides.
  int declined_in = 0;      // One in so many of the others was declined there; 0: none.
  int same_pairs_each = 6;  // What the loop wants of a family before it rests.
};

// Writes `folder`/ledger.db: a year of hypotheses that were tested and got their verdicts, with an
// A/A pair for every tenth of them, and what waits at the gate now. No run is in flight. The file
// is not synced while it is built. Returns the number of events.
Result<std::int64_t> build_idle_ledger(const std::string& folder, const History& history);

}  // namespace amdahl::bench
