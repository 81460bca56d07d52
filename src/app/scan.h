// scan.h: a fleet's accounting and telemetry, from wherever they are, into one report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/scan_source.h"
#include "base/result.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "os/clock.h"
#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::app {

struct ScanProgress {
  std::string what;         // The input that is read now.
  std::uint64_t done = 0;   // Bytes, or pieces of a server's answers.
  std::uint64_t total = 0;  // 0: not known.
  bool pieces = false;
};

struct ScanOptions {
  std::vector<ScanSource> sources{};  // Empty: the usage records here, and what is configured.
  std::optional<Nanos> from{};        // Unix time.
  std::optional<Nanos> to{};
  std::optional<Nanos> window{};       // Before `to`, where there is no `from`.
  std::optional<double> idle_below{};  // Utilisation; default: scan.idle_threshold.
  scan::ReportOptions report{};
  std::vector<std::string> timelines_of{};  // Jobs whose anatomy will be asked for.
  int threads = 1;
  bool fresh = false;
  bool keep = true;  // Marks and journals in the state folder.
  std::function<bool()> stop{};
  std::function<void(const ScanProgress&)> progress{};
};

// What one input came to, for --explain-input.
struct InputRead {
  std::string name;      // As people know it.
  std::string read_as;   // "slurm: what sacct ... print"; empty: left out.
  std::string packing;   // "gzip"; empty: none.
  std::string known_by;  // Why it was taken for that, and what its columns mean; lines, or none.
  std::string notes;     // One sentence more, where there is one.
  std::uint64_t bytes = 0;
  std::uint64_t known = 0;  // Of them known from an earlier scan.
  std::uint64_t jobs = 0;
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::vector<scan::TroubleCount> troubles;  // While it was read; those above 0.
  std::string left_out;                      // Why; empty: it was read.
};

struct FleetAnswer {
  scan::FleetUsage usage;
  scan::Families families;
  scan::Report report;
  std::vector<InputRead> inputs;
  std::vector<std::string> missing;    // What servers and programs did not give.
  std::string not_kept;                // Why the next scan reads more again; empty: it need not.
  std::vector<std::string> with_spec;  // Families that can be experimented on.
  std::set<std::string> local_jobs;    // Those that ran here, under `amdahl run`.
  bool jobs_by_label = false;          // No accounting: jobs are what samples were labelled with.
  bool window_of_samples = false;      // Nobody said which; accounting may go beyond.
  // What the last cycle chose to work on, where this scan is of what cycles scan.
  std::optional<ledger::Choice> next;
};

// An error where a person named what cannot be read; inputs found in folders are left out and
// counted. kNotFound if there is nothing to read. `ledger` may be null.
Result<FleetAnswer> scan_all(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
                             const ScanOptions& options);

// What the ledger knows of families and levers, for ranking by what can be got back.
Result<scan::Memories> memories_of(ledger::Ledger& ledger);

// "2017-10-11", "2017-10-11T06:00", "1507680000", "now", "-7d", "36h" (before now).
Result<Nanos> parse_when(std::string_view text, std::string_view what, Nanos now);
// "7d", "36h", "90min".
Result<Nanos> parse_length(std::string_view text, std::string_view what);

}  // namespace amdahl::app
