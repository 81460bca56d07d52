// source.h: the table of readable accounting and telemetry formats, one row each.
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

// Reads one input in chunks of any size, with bounded memory. Does no I/O.
class Reader {
 public:
  virtual ~Reader() = default;
  // The next (decompressed) bytes; valid during the call only. An error is final: the input is not
  // in this format. A bad record is a trouble, not an error.
  virtual Result<> feed(std::string_view bytes) = 0;
  virtual Result<> finish() = 0;  // End of input.
};

struct ReaderOptions {
  std::string path{};        // Of the input, for messages; may contain the host name (nvidia-smi).
  std::string host{};        // Host of the input, if it does not say; empty: unknown.
  std::string fields{};      // For `sacct -P --noheader`: its -o list.
  std::string time_zone{};   // For times without one, as in TZ; empty: UTC.
  std::string zone_rules{};  // Content of zone_file(time_zone), if it has one (times.h).
  std::string mapping{};     // TOML mapping for CSV (docs/format/csv-mapping.md); empty: none.
  // Start of the input, if already read. Columns are interpreted by it, also when only a later
  // part is read.
  std::string head{};
  Nanos now{};      // Unix time.
  int threads = 1;  // Maximum for the reader; does not affect the result.
};

// What an input gives: jobs, places and capacity; samples; or both. All of the former is read
// before any sample.
enum class Gives : std::uint8_t { kJobs, kSamples, kBoth };

// What must be re-read before lines appended to an input.
enum class Appended : std::uint8_t {
  kAfterAll,     // All of it.
  kAfterHeader,  // Only the first line.
  kAlone,        // Nothing.
};

// What an input is, from its first bytes.
struct Explained {
  Gives gives = Gives::kBoth;
  std::string text{};  // For people, some lines; may be empty.
  Appended appended = Appended::kAfterAll;
};

// How well a table fits a mapping.
enum class Fit : std::uint8_t {
  kNone,   // Not a table of this source.
  kSome,   // Columns of the mapping are missing.
  kWhole,  // All columns are there; or the mapping is invalid, and its reader says why.
};

// Everything about a format: no code outside its row and its folder mentions it.
struct Source {
  std::string_view name;   // Argument of --source.
  std::string_view reads;  // For people.
  Gives gives = Gives::kBoth;
  bool (*claims)(std::string_view head) = nullptr;  // `head`: the first 4 KiB or less, unpacked.
  std::unique_ptr<Reader> (*make)(Intake& intake, const ReaderOptions& options) = nullptr;
  // Called only if no source claims the input: whether it can be read anyway. An error says what
  // is missing. Null: never.
  Result<bool> (*guesses)(std::string_view head, const ReaderOptions& options) = nullptr;
  // Null: the row's `gives` and `appended` apply.
  Explained (*explain)(std::string_view head, const ReaderOptions& options) = nullptr;
  Fit (*fit)(std::string_view head, std::string_view mapping) = nullptr;  // Null: takes no mapping.
  Appended appended = Appended::kAfterAll;
  bool takes_fields = false;  // ReaderOptions::fields select this source if none claims the input.
  bool says_zone = false;     // The format defines the zone of its times.
};

// A table of sources; each question is asked of all rows.
class Sources {
 public:
  explicit constexpr Sources(std::span<const Source> rows) : rows_{rows} {}

  std::span<const Source> rows() const { return rows_; }
  Result<Source> named(std::string_view name) const;  // With "did you mean".
  // The one source that claims these bytes; kUnsupported if none or several do. Decodes UTF-16.
  Result<Source> claiming(std::string_view head, const ReaderOptions& options = {}) const;
  // The same for several files with one set of options: a mapping or list of fields is removed
  // from `options` for files that do not need it.
  Result<Source> fitting(std::string_view head, ReaderOptions& options) const;

 private:
  Result<Source> guessed(std::string_view bytes, const ReaderOptions& options) const;

  std::span<const Source> rows_;
};

const Sources& sources();  // All built-in sources.

inline constexpr std::size_t kHeadBytes = 4096;                  // Limit for `claims`.
inline constexpr std::size_t kMostHead = std::size_t{64} << 10;  // Limit for `guesses`.

// A reader of `source`; UTF-16 with a byte order mark is decoded.
std::unique_ptr<Reader> make_reader(const Source& source, Intake& intake,
                                    const ReaderOptions& options);
// What the head says; see Source::explain.
Explained explain(const Source& source, std::string_view head, const ReaderOptions& options);
// The part of the first bytes by which `explain` and readers interpret an input.
std::string_view telling_part(std::string_view head);

}  // namespace amdahl::fleet
