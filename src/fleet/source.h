// source.h: one row per kind of accounting or telemetry we can read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"

namespace amdahl::fleet {

// Reads one input in pieces of any size: bounded memory, any file. Does no I/O.
class Reader {
 public:
  virtual ~Reader() = default;
  // Next bytes of the input (already decompressed). They need not outlive the call. An error is
  // final: the input is not what it claimed to be. A bad record is a trouble, not an error.
  virtual Result<> feed(std::string_view bytes) = 0;
  virtual Result<> finish() = 0;  // No more bytes come.
};

struct ReaderOptions {
  std::string path{};        // Of the input: a host's name may be in it (nvidia-smi), for messages.
  std::string host{};        // Whose input it is, if the input does not say; empty: not known.
  std::string fields{};      // Of `sacct -P --noheader`: the -o list it was made with.
  std::string time_zone{};   // Of times without one, as TZ spells it; empty: UTC.
  std::string zone_rules{};  // The bytes of zone_file(time_zone), if it names one (times.h).
  std::string mapping{};     // TOML of a mapping for CSV (docs/format/csv-mapping.md); empty: none.
  Nanos now{};               // Unix time.
  int threads = 1;           // That a reader may use; what it tells does not depend on it.
};

enum class Gives : std::uint8_t { kJobs, kSamples, kBoth };  // Jobs are read before samples.

struct Source {
  std::string_view name;   // As typed after --source.
  std::string_view reads;  // As people read it.
  Gives gives;
  bool (*claims)(std::string_view head);  // `head`: the first 4 KiB or less, decompressed.
  std::unique_ptr<Reader> (*make)(Intake& intake, const ReaderOptions& options);
};

std::span<const Source> sources();

inline constexpr std::size_t kHeadBytes = 4096;  // What `claims` may look at.

// The one source that claims these bytes; kUnsupported if none or several do.
Result<Source> source_for(std::string_view head);
Result<Source> source_named(std::string_view name);  // With "did you mean".

}  // namespace amdahl::fleet
