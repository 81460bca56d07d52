// ingest.h: reads a fleet's accounting and telemetry from any origin and joins them into usage.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/origin.h"
#include "os/clock.h"
#include "scan/fleet_usage.h"

namespace amdahl::fleet {
class Sources;
}

namespace amdahl::ingest {

struct Progress {
  std::string what;         // The input being read.
  std::uint64_t done = 0;   // Bytes, or chunks of a server's answers.
  std::uint64_t total = 0;  // 0: unknown.
  bool pieces = false;
};

struct Options {
  const fleet::Sources* sources = nullptr;  // File formats; null: fleet::sources().
  std::vector<Origin> origins{};
  // Not empty: the origins are defaults, and this is the error if they have no data.
  std::string by_default{};
  std::optional<Nanos> from{};  // Unix time.
  std::optional<Nanos> to{};
  std::optional<Nanos> window{};                   // Before `to`, if there is no `from`.
  Nanos live_window = std::chrono::hours(7 * 24);  // For servers, if none is given.
  std::optional<double> idle_below{};           // Utilisation; default: as in scan::UsageOptions.
  std::optional<std::size_t> timeline_lanes{};  // Default: as in scan::UsageOptions.
  std::vector<std::string> timelines_of{};      // Jobs whose anatomy will be requested.
  int threads = 1;
  std::string folder{};  // For kept data and copies of pipes; empty: temporary folder.
  bool keep = true;      // Keep marks and journals, so that the next scan reads only new data.
  Nanos keep_unused{};   // How long to keep unused ones; 0: forever.
  bool fresh = false;    // Ignore kept data.
  std::function<bool()> stop{};
  std::function<void(const Progress&)> progress{};
};

// What was read from one input, for --explain-input.
struct InputRead {
  std::string name;      // For people.
  std::string read_as;   // "slurm: what sacct ... print"; empty: skipped.
  std::string packing;   // "gzip"; empty: none.
  std::string known_by;  // Why this format, and what its columns mean; lines, or empty.
  std::string notes;     // Another sentence, or empty.
  std::uint64_t bytes = 0;
  std::uint64_t known = 0;  // Of these, known from an earlier scan.
  std::uint64_t jobs = 0;
  std::uint64_t series = 0;
  std::uint64_t samples = 0;
  std::vector<scan::TroubleCount> troubles;  // While reading it; only those above 0.
  std::string left_out;                      // Why it was skipped; empty: it was read.
};

struct Ingested {
  scan::FleetUsage usage;
  std::vector<InputRead> inputs;
  std::vector<std::string> missing;  // What servers and programs did not return.
  std::string not_kept;              // Why the next scan cannot reuse it; empty: it can.
  bool jobs_by_label = false;        // No accounting: jobs come from labels of samples.
  bool window_of_samples = false;    // No window was given; accounting may go beyond it.
};

// Jobs, places and names of all inputs are read before samples. The result does not depend on the
// order of origins, the number of threads, or kept data. Everything is read a second time if the
// first pass shows the need (late names, unsorted samples, clocks, time zones).
//
// Fails if a named input cannot be read; unreadable files found in folders are skipped and
// counted. kNotFound if there is nothing to read.
Result<Ingested> read_fleet(const Options& options, os::Clock& clock);

}  // namespace amdahl::ingest
