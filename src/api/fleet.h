// fleet.h: a fleet's waste and a job's anatomy as JSON.
#pragma once

#include <string>

#include "app/fleet.h"
#include "app/kept_scans.h"
#include "app/own_waste.h"
#include "app/scan.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::api {

Json fleet(const app::FleetAnswer& answer, scan::By by);
Json empty_fleet();
Json kept_months(const std::vector<app::KeptMonth>& months);  // Nothing has been observed.
// One page of rows of a scan that is kept.
Json fleet_rows(const scan::Cut& page, const scan::PageOptions& options);
Json fleet_trends(const scan::Report& report);
// One job's anatomy, from a fleet or from a local record.
Json anatomy(const scan::Anatomy& job);

Json own_waste(const app::OwnWaste& own, const app::FleetAnswer& fleet);

// The same for any door; a fleet without observations is an answer, not an error.
Result<Json> fleet(const app::Config& config, const app::ScanOptions& options, scan::By by);
Result<Json> anatomy(const app::Config& config, const std::string& job);  // As app::find_job.

}  // namespace amdahl::api
