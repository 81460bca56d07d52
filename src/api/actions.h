// actions.h: what to do about a fleet's waste, rules replayed on its jobs, and bills, as JSON.
#pragma once

#include "app/scan.h"
#include "base/json.h"

namespace amdahl::api {

Json actions(const scan::Report& report);
Json policies(const scan::Report& report, const scan::FleetUsage& usage);
Json goodput(const scan::Report& report);
Json waiting(const scan::Report& report);
Json failures(const scan::Report& report);
// By user, account and partition, each adding up to the total; null where rows were left out.
Json chargeback(const scan::Report& report);

}  // namespace amdahl::api
