// show_scan.h: prints a fleet's report as text or CSV, and how its inputs were read.
#pragma once

#include <string>
#include <string_view>

#include "app/kept_scans.h"
#include "app/scan.h"
#include "cli/options.h"

namespace amdahl::cli {

std::string show_fleet(const ScanFlags& flags, const app::FleetAnswer& answer, scan::By by);
// By partition, if only capacity is known and no job.
std::string show_capacity(const Flags& flags, const app::FleetAnswer& answer);
// What there is, where nothing says what became of it, and what to add.
std::string inventory_text(const app::FleetAnswer& answer);
std::string explain_inputs(const Flags& flags, const app::FleetAnswer& answer);
// Skipped or adjusted input, counted by kind; empty: none.
std::string counted_words(const app::FleetAnswer& answer);
// Share of the jobs' time outside the window; empty: none.
std::string time_outside(const app::FleetAnswer& answer);
// For a scan without jobs: the window, and where the jobs are.
std::string no_jobs_text(const app::FleetAnswer& answer);
std::string fleet_csv(const app::FleetAnswer& answer, scan::By by);
std::string csv_cell(std::string_view text);  // Quoted as in RFC 4180; safe in spreadsheets.

// The policies replayed on the jobs, with wrong hits.
std::string show_policy(const Flags& flags, const app::FleetAnswer& answer);
// By user, account and partition, each with its total; all rows, in hours and USD.
std::string chargeback_csv(const scan::Report& report);

// For --trend: a table of the fleet's windows, and one line per family.
std::string show_trend(const Flags& flags, const scan::Report& report);
std::string trend_csv(const app::FleetAnswer& answer);
// For --trend months: the kept scans by month, with the change of the wasted share.
std::string show_kept_months(const std::vector<app::KeptMonth>& months);

}  // namespace amdahl::cli
