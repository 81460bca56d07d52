// actions.h: actions against a fleet's waste, replayed policies and chargeback, as JSON.
#pragma once

#include "app/scan.h"
#include "base/json.h"

namespace amdahl::api {

Json actions(const scan::Report& report);
// What is wasted a day: what a replayed rule would have freed, and the rest.
Json leaking(const scan::Report& report);
Json policies(const scan::Report& report, const scan::FleetUsage& usage);
Json goodput(const scan::Report& report);
Json waiting(const scan::Report& report);
// Energy, memory held by idle accelerators, work outside of jobs, and without accounting what each
// accelerator did.
Json beside(const scan::Report& report, const scan::FleetUsage& usage);
Json failures(const scan::Report& report);
// By user, account and partition, each summing to the total; null if rows were left out.
Json chargeback(const scan::Report& report);

}  // namespace amdahl::api
