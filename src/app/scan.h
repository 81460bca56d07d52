// scan.h: a fleet's usage ranked by recoverable time, with what the ledger knows about it.
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
#include "scan/ranking.h"
#include "scan/report.h"

namespace amdahl::app {

struct ScanOptions {
  // Without origins: the local usage records and the configured sources. Folders and the idle
  // threshold come from the configuration.
  ingest::Options read{};
  std::optional<double> idle_below{};  // Idle threshold; default: scan.idle_threshold.
  std::optional<double> price{};       // USD per accelerator-hour; default: the configuration's.
  scan::ReportOptions report{};        // Prices are filled in here.
};

struct FleetAnswer : ingest::Ingested {
  scan::Families families{};
  scan::Report report{};
  std::vector<std::string> with_spec{};  // Families that can be experimented on.
  std::set<std::string> local_jobs{};    // Those that ran here, under `amdahl run`.
  bool slurm_knows = false;              // The others are known to the Slurm of this machine.
  // The last cycle's choice, if this scan covers the same sources as cycles do.
  std::optional<ledger::Choice> next{};
};

// What `amdahl adopt` takes for a job of the scan; empty if it knows nothing to draft a spec from.
std::string adopted_as(const FleetAnswer& answer, const std::string& job);

// Writes a mail for each user about their own waste into this folder; returns how many. `command`:
// reads these inputs again.
Result<std::size_t> write_mails(const FleetAnswer& answer, const std::string& folder,
                                const std::string& command);
// Prometheus alert rules for the waste that was found.
Result<> write_alerts(const FleetAnswer& answer, const std::string& file);

// Errors: see ingest::read_fleet. `ledger` may be null.
Result<FleetAnswer> scan_all(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
                             const ScanOptions& options);

// The same for any door: with the ledger of the state folder, if there is one.
Result<FleetAnswer> scan_fleet(const Config& config, const ScanOptions& options);

// What pages of rows are made of, with the configuration's prices. `answer` must outlive it.
Result<std::unique_ptr<scan::Ranking>> ranking_of(const Config& config, const FleetAnswer& answer,
                                                  const ScanOptions& options);

// Ranks the same data again: other rows, another order.
Result<> rank_fleet(const Config& config, const ScanOptions& options, FleetAnswer& answer);

// The last attempt of this job; kNotFound if it held no accelerator in the window.
Result<scan::Anatomy> anatomy_in(const FleetAnswer& answer, const std::string& job);

}  // namespace amdahl::app
