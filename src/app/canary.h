// canary.h: the watch over promoted changes: opened at the gate, judged by the cycle, ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/reconcile.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "loop/effects.h"
#include "model/canary.h"

namespace amdahl::app {

// The event that opens the watch, to be appended with the promotion itself; nothing if the
// configuration wants no canaries.
Result<std::optional<ledger::Draft>> canary_draft(Context& context, const loop::WatchBegan& watch,
                                                  const std::string& actor);

struct CanaryView {
  ledger::CanaryRow row;
  model::CanaryResult result;  // As it closed; as of now while it is open.
  std::vector<std::string> unreadable;
};
// Oldest first; "" for all families.
Result<std::vector<CanaryView>> read_canaries(Context& context, const std::string& family);

// Closes the canaries that have decided, books what was saved, and lets the configured gate policy,
// if it does such things, roll back what is proposed. Nobody else is rolled back for.
Result<> watch_canaries(Context& context, const Say& say, std::int64_t fence);

// A person ends the watch: of an open canary, or of one that proposes to roll back.
Result<std::string> keep_change(Context& context, const std::string& hypothesis,
                                const std::string& actor, const std::string& reason);

// What to type where a rollback is proposed.
std::string rollback_hint(const std::string& hypothesis);

}  // namespace amdahl::app
