// views.h: short forms of answers, for readers who pay per token.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/history.h"
#include "app/memory.h"
#include "base/json.h"

namespace amdahl::mcp {

// These fields of an object, if it has them.
Json pick(const Json& object, const std::vector<std::string>& fields);
// The first entries of a list, reduced to these fields.
Json pick_each(const Json& list, const std::vector<std::string>& fields, std::size_t at_most);

// {saved, lower, upper, pairs, answer}: shares of the cost; null if there is no bound.
Json measured(const std::optional<model::Comparison>& comparison);

// {id, family, state, title, change, origin, predicted_gain, measured, reason}
Json row_of(const ledger::HypothesisRow& row, const std::optional<model::Verdict>& verdict);
Json row_of(const app::Remembered& past);  // With "nearness".

// State of a hypothesis, and who acts next.
struct Standing {
  bool settled = false;  // Nothing that a client does will change it now.
  std::string
      waits_for;     // "nothing", "a person", "pairs", "a cycle", "more evidence", "idle slots".
  std::string next;  // What to do.
};
Standing standing_of(const app::Story& story, bool cycle_runs);
Json status_of(const app::Story& story, bool cycle_runs);

}  // namespace amdahl::mcp
