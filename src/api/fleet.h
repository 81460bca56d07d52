// fleet.h: a fleet's waste and a job's anatomy as JSON.
#pragma once

#include "app/scan.h"
#include "base/json.h"
#include "scan/anatomy.h"
#include "scan/report.h"

namespace amdahl::api {

Json fleet(const app::FleetAnswer& answer, scan::By by);
Json empty_fleet();  // Nothing has been observed.
// One job's anatomy, of a fleet or of a record here.
Json anatomy(const scan::Anatomy& job);

}  // namespace amdahl::api
