// scan.h: the usage of a fleet ranked by what can be recovered, with what the ledger knows of it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "ingest/ingest.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "os/clock.h"
#include "scan/anatomy.h"
#include "scan/family.h"
#include "scan/report.h"

namespace amdahl::app {

struct ScanOptions {
  // No origins: the usage records here, and what is configured. Where things are kept, and what
  // counts as idle, the configuration says.
  ingest::Options read{};
  std::optional<double> idle_below{};  // Utilisation; default: scan.idle_threshold.
  std::optional<double> price{};       // USD an accelerator-hour; default: the configuration's.
  scan::ReportOptions report{};        // Its prices are filled in here.
};

struct FleetAnswer : ingest::Ingested {
  scan::Families families{};
  scan::Report report{};
  std::vector<std::string> with_spec{};  // Families that can be experimented on.
  std::set<std::string> local_jobs{};    // Those that ran here, under `amdahl run`.
  // What the last cycle chose to work on, where this scan is of what cycles scan.
  std::optional<ledger::Choice> next{};
};

// A text for each user about their own waste, in files of this folder; how many. `command`:
// what reads these inputs again.
Result<std::size_t> write_mails(const FleetAnswer& answer, const std::string& folder,
                                const std::string& command);
// Prometheus alert rules against what was found.
Result<> write_alerts(const FleetAnswer& answer, const std::string& file);

// See ingest::read_fleet for errors. `ledger` may be null.
Result<FleetAnswer> scan_all(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
                             const ScanOptions& options);

// The same for any door: with the ledger of the state folder, if there is one.
Result<FleetAnswer> scan_fleet(const Config& config, const ScanOptions& options);

// The report of what was read, anew: other rows, another order.
Result<> rank_fleet(const Config& config, const ScanOptions& options, FleetAnswer& answer);

// The last attempt of this job; kNotFound if it held no accelerator in the window.
Result<scan::Anatomy> anatomy_in(const FleetAnswer& answer, const std::string& job);

}  // namespace amdahl::app
