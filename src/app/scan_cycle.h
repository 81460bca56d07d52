// scan_cycle.h: the scan at the start of a cycle, and what the ledger keeps of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "app/context.h"
#include "app/reconcile.h"
#include "app/scan.h"
#include "app/snapshot.h"
#include "base/result.h"
#include "scan/pick.h"

namespace amdahl::app {

// Local records and configured sources, all families. An unreadable source does not stop the loop:
// it is reported, and the rest is used. Nothing if there is no data yet.
std::optional<FleetAnswer> scan_for_cycle(Context& context, const Say& say,
                                          const std::function<bool()>& stopped);

// Local records only. Nothing if there are none that can be read.
std::optional<FleetAnswer> scan_here(Context& context, const Say& say = {});

// Records the daily volume of each family with a spec, if it changed.
Result<> record_volumes(Context& context, const FleetAnswer& answer, std::int64_t fence = 0);

// Which families the loop can continue with, given what is live.
scan::Standing standing_of(const Snapshot& snapshot, const FleetAnswer& answer);

// Records what the loop works on next, why, what follows and what was skipped; and reports it.
// Does nothing if the last choice is the same and its figures changed by less than 10 %.
Result<> record_choice(Context& context, const scan::Pick& pick, const Say& say,
                       std::int64_t fence = 0);

}  // namespace amdahl::app
