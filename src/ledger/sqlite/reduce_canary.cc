#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "ledger/sqlite/reduce.h"
#include "model/canary.h"
#include "model/codec.h"

namespace amdahl::ledger::sqlite {

Result<> open_canary(db::Connection& db, const Entry& entry) {
  const auto canary = TRY(model::decode<model::Canary>(entry.event.payload));
  TRY(same_subject(entry, canary.hypothesis));
  if (canary.one_in < 2) {
    return bad_input(fmt::format("/one_in: must be at least 2, but is {}", canary.one_in));
  }
  if (!(canary.sigma > 0)) return bad_input("/sigma: must be above 0");
  TRY(db.run("open the canary",
             "INSERT INTO canary(seq, hypothesis, family, number, state, body)"
             " VALUES (?, ?, ?, ?, 'open', ?)",
             entry.event.seq, canary.hypothesis, canary.family, canary.number, entry.text));
  return Ok{};
}

// At most twice: by the cycle, and by a person who keeps a change that the cycle proposed to roll
// back.
Result<> close_canary(db::Connection& db, const Entry& entry) {
  using model::CanaryState;
  const auto result = TRY(model::decode<model::CanaryResult>(entry.event.payload));
  TRY(same_subject(entry, result.hypothesis));
  if (result.outcome != CanaryState::kKept && result.outcome != CanaryState::kRollbackProposed) {
    return bad_input(
        fmt::format("/outcome: a canary cannot close as \"{}\"", model::name(result.outcome)));
  }
  return must_find(
      db.run("close the canary",
             "UPDATE canary SET state = ?, actor = ?, reason = ?, closed_ns = ?, result = ?"
             " WHERE hypothesis = ?",
             model::name(result.outcome), entry.event.actor, result.because, entry.event.at.count(),
             entry.text, entry.event.subject),
      "canary of", entry.event.subject);
}

}  // namespace amdahl::ledger::sqlite
