// show_scan.h: a fleet's report as text at a glance, as CSV, and how its inputs were read.
#pragma once

#include <string>
#include <string_view>

#include "app/scan.h"
#include "cli/options.h"

namespace amdahl::cli {

std::string show_fleet(const ScanFlags& flags, const app::FleetAnswer& answer, scan::By by);
// Where only what there was is known, and no job: by partition.
std::string show_capacity(const Flags& flags, const app::FleetAnswer& answer);
std::string explain_inputs(const Flags& flags, const app::FleetAnswer& answer);
// What was dropped or passed over, counted by kind; empty: nothing.
std::string counted_words(const app::FleetAnswer& answer);
// What of the jobs' time the window leaves out, in words; empty: nothing.
std::string time_outside(const app::FleetAnswer& answer);
// For a scan that has none: which window that is, and where the jobs are.
std::string no_jobs_text(const app::FleetAnswer& answer);
std::string fleet_csv(const app::FleetAnswer& answer, scan::By by);
std::string csv_cell(std::string_view text);  // Quoted as RFC 4180 has it; no spreadsheet runs it.

// The rules that were replayed on the jobs, with whom they would have hit wrongly.
std::string show_policy(const Flags& flags, const app::FleetAnswer& answer);
// By user, account and partition, each with its total; all rows, in hours and USD.
std::string chargeback_csv(const scan::Report& report);

// What --trend asks for: a table of the fleet's windows, and a line a family.
std::string show_trend(const Flags& flags, const scan::Report& report);
std::string trend_csv(const app::FleetAnswer& answer);

}  // namespace amdahl::cli
