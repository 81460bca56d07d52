// budget.h: what runs cost in money, and the configured limits.
#pragma once

#include <cstdint>

#include "app/context.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// Cost of held accelerators and used CPU time at the configured prices.
Usd bill(const Config& config, AcceleratorSeconds held, Nanos cpu);

// Brings the ledger's limits in line with the configuration: sets, changes or removes them. A
// limit below what is already committed and spent is set to that amount, so that nothing more is
// granted; it falls further as runs in flight return what they did not use.
Result<> set_budgets(Context& context, std::int64_t fence);

}  // namespace amdahl::app
