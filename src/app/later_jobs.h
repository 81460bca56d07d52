// later_jobs.h: jobs of families with promoted changes: kept, booked as savings, watched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "app/reconcile.h"
#include "app/scan.h"
#include "base/result.h"
#include "canary/later.h"
#include "ledger/ledger.h"

namespace amdahl::app {

// The jobs of such a family are kept in later/FAMILY.jsonl of the state folder, because what a scan
// can see ends some days ago: docs/format/later.md.
std::string later_json(const canary::LaterJob& job);
Result<canary::LaterJob> read_later(std::string_view line);

// Keeps about so many of the jobs, which are in the order of their starts: the newest half, and the
// last 500 before each promotion, since later jobs are compared with them; of the others every
// second, fourth and so on: their months are booked.
void thin(std::vector<canary::LaterJob>& jobs, std::span<const canary::InEffect> changes,
          std::size_t most);

// The changes that were ever promoted for the family, oldest first.
Result<std::vector<canary::InEffect>> changes_in_effect(Context& context,
                                                        const ledger::Family& family);

// Keeps the jobs that the scan found, books what they saved by month (saving.realised) and closes
// the canary of a change that costs more, with a proposal to roll it back. A family whose file
// cannot be read is reported and left out.
Result<> watch_later_jobs(Context& context, const FleetAnswer& fleet, const Say& say,
                          std::int64_t fence = 0);

}  // namespace amdahl::app
