// budget.h: what runs cost in money, and the limits that the configuration sets.
#pragma once

#include <cstdint>

#include "app/context.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// Accelerators held and CPU time used, at the configured prices.
Usd bill(const Config& config, AcceleratorSeconds held, Nanos cpu);

// Brings the ledger's limits in line with the configuration: sets, changes, or takes away. One that
// is below what is committed and spent already is set to just that, so that nothing more is
// granted; it sinks further as runs in flight give back what they do not use.
Result<> set_budgets(Context& context, std::int64_t fence);

}  // namespace amdahl::app
