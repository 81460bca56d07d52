// ingest.h: a fleet's accounting and telemetry, from wherever they are, joined into its usage.
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
  std::string what;         // The input that is read now.
  std::uint64_t done = 0;   // Bytes, or pieces of a server's answers.
  std::uint64_t total = 0;  // 0: not known.
  bool pieces = false;
};

struct Options {
  const fleet::Sources* sources = nullptr;  // The formats of files; null: fleet::sources().
  std::vector<Origin> origins{};
  // Not empty: nobody named the origins, and this is the error if they hold nothing to read.
  std::string by_default{};
  std::optional<Nanos> from{};  // Unix time.
  std::optional<Nanos> to{};
  std::optional<Nanos> window{};                   // Before `to`, where there is no `from`.
  Nanos live_window = std::chrono::hours(7 * 24);  // Of servers, where nobody said.
  std::optional<double> idle_below{};           // Utilisation; default: that of scan::UsageOptions,
  std::optional<std::size_t> timeline_lanes{};  // and so is this.
  std::vector<std::string> timelines_of{};      // Jobs whose anatomy will be asked for.
  int threads = 1;
  std::string folder{};  // For what is kept, and copies of pipes; empty: that of temporary files.
  bool keep = true;      // Marks and journals, so that the next time only what is new is read.
  Nanos keep_unused{};   // For so long; 0: for ever.
  bool fresh = false;    // Do not trust what is kept.
  std::function<bool()> stop{};
  std::function<void(const Progress&)> progress{};
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

struct Ingested {
  scan::FleetUsage usage;
  std::vector<InputRead> inputs;
  std::vector<std::string> missing;  // What servers and programs did not give.
  std::string not_kept;              // Why the next scan reads more again; empty: it need not.
  bool jobs_by_label = false;        // No accounting: jobs are what samples were labelled with.
  bool window_of_samples = false;    // Nobody said which; accounting may go beyond.
};

// Jobs, places and names of all inputs come before samples; the answer is the same for any order of
// origins, any number of threads, and whatever is kept. All is read once more where the first time
// showed that it should be (late names, samples out of order, clocks, time zones).
//
// An error where a person named what cannot be read; inputs found in folders are left out and
// counted. kNotFound if there is nothing to read.
Result<Ingested> read_fleet(const Options& options, os::Clock& clock);

}  // namespace amdahl::ingest
