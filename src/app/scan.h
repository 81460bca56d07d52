// scan.h: the usage of a fleet ranked by what can be recovered, with what the ledger knows of it.
#pragma once

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
#include "scan/family.h"
#include "scan/report.h"

namespace amdahl::app {

struct ScanOptions {
  // No origins: the usage records here, and what is configured. Where things are kept, and what
  // counts as idle, the configuration says.
  ingest::Options read{};
  std::optional<double> idle_below{};  // Utilisation; default: scan.idle_threshold.
  scan::ReportOptions report{};
};

struct FleetAnswer : ingest::Ingested {
  scan::Families families{};
  scan::Report report{};
  std::vector<std::string> with_spec{};  // Families that can be experimented on.
  std::set<std::string> local_jobs{};    // Those that ran here, under `amdahl run`.
  // What the last cycle chose to work on, where this scan is of what cycles scan.
  std::optional<ledger::Choice> next{};
};

// See ingest::read_fleet for errors. `ledger` may be null.
Result<FleetAnswer> scan_all(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
                             const ScanOptions& options);

}  // namespace amdahl::app
