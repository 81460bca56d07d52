// canary.h: canaries of promoted changes: opened at the gate, judged by each cycle, closed.
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

// The event that opens the canary, to be appended with the promotion; nothing if canaries are off.
Result<std::optional<ledger::Draft>> canary_draft(Context& context, const loop::WatchBegan& watch,
                                                  const std::string& actor);

struct CanaryView {
  ledger::CanaryRow row;
  model::CanaryResult result;  // Final result, or the current one while open.
  std::vector<std::string> unreadable;
};
// Oldest first; "" for all families.
Result<std::vector<CanaryView>> read_canaries(Context& context, const std::string& family);

// Closes canaries that have decided and books their savings. Proposed rollbacks are carried out
// only if the configured gate policy does so.
Result<> watch_canaries(Context& context, const Say& say, std::int64_t fence);

// A person ends the watch of a canary that is open or proposes a rollback.
Result<std::string> keep_change(Context& context, const std::string& hypothesis,
                                const std::string& actor, const std::string& reason);

// The command for a proposed rollback.
std::string rollback_hint(const std::string& hypothesis);

}  // namespace amdahl::app
