// scan_cycle.h: the scan with which a cycle begins: what runs here, and the configured sources.
#pragma once

#include "app/context.h"
#include "app/fleet.h"
#include "app/reconcile.h"
#include "app/scan.h"

namespace amdahl::app {

// Without [[scan.source]] the usage records alone. A source that cannot be read does not stop the
// loop: it is said, and what is known from here is used.
Result<FleetScan> scan_for_cycle(Context& context, const Say& say,
                                 const std::function<bool()>& stopped);

// A fleet's families in the form that the ledger records; the one to work on next with the reason.
FleetScan ranking_of(const FleetAnswer& answer);

}  // namespace amdahl::app
