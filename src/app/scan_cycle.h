// scan_cycle.h: the scan with which a cycle begins, and what the ledger keeps of it.
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

// What runs here and the configured sources, all families. A source that cannot be read does not
// stop the loop: it is said, and what is known from here is used. Nothing if there is nothing yet.
std::optional<FleetAnswer> scan_for_cycle(Context& context, const Say& say,
                                          const std::function<bool()>& stopped);

// What ran here alone. Nothing if there is nothing, or nothing that can be read.
std::optional<FleetAnswer> scan_here(Context& context, const Say& say = {});

// Writes to the ledger what each family with a spec burns a day, where that changed.
Result<> record_volumes(Context& context, const FleetAnswer& answer, std::int64_t fence = 0);

// Which families the loop can go on with, given what is live.
scan::Standing standing_of(const Snapshot& snapshot, const FleetAnswer& answer);

// Writes to the ledger what the loop works on next, why, what follows and what was passed over; and
// says it. Nothing if the last choice is the same and its figures moved by less than a tenth.
Result<> record_choice(Context& context, const scan::Pick& pick, const Say& say,
                       std::int64_t fence = 0);

}  // namespace amdahl::app
