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
  // The beginning of the input, where someone has looked at it already: what columns mean is judged
  // by it, also when only a later part is read.
  std::string head{};
  Nanos now{};      // Unix time.
  int threads = 1;  // That a reader may use; what it tells does not depend on it.
};

// What an input tells: jobs, places and what there is; samples; or both. All of the first is read
// before any sample.
enum class Gives : std::uint8_t { kJobs, kSamples, kBoth };

// What must be read again before lines that were appended to an input.
enum class Appended : std::uint8_t {
  kAfterAll,     // All of it.
  kAfterHeader,  // The first line.
  kAlone,        // Nothing.
};

// What an input is, told from its first bytes.
struct Explained {
  Gives gives = Gives::kBoth;
  std::string text{};  // For people, some lines; empty: there is nothing to say.
  Appended appended = Appended::kAfterAll;
};

// How a table fits to a mapping.
enum class Fit : std::uint8_t {
  kNone,   // It is no table of this source.
  kSome,   // It is one; columns that the mapping wants are missing.
  kWhole,  // Every column is there; or the mapping cannot be read, and its reader says why.
};

// All that is known of a format: nothing outside of its row and its folder names it.
struct Source {
  std::string_view name;   // As typed after --source.
  std::string_view reads;  // As people read it.
  Gives gives = Gives::kBoth;
  bool (*claims)(std::string_view head) = nullptr;  // `head`: the first 4 KiB or less, unpacked.
  std::unique_ptr<Reader> (*make)(Intake& intake, const ReaderOptions& options) = nullptr;
  // Asked only if nobody claims: whether it can be read all the same. An error says what it would
  // need to. Null: no.
  Result<bool> (*guesses)(std::string_view head, const ReaderOptions& options) = nullptr;
  // Null: what it gives and what stands alone is as the row says.
  Explained (*explain)(std::string_view head, const ReaderOptions& options) = nullptr;
  Fit (*fit)(std::string_view head, std::string_view mapping) = nullptr;  // Null: takes none.
  Appended appended = Appended::kAfterAll;
  bool takes_fields = false;  // ReaderOptions::fields say what it is if nobody claims it.
  bool says_zone = false;     // The format defines the zone of times that do not say theirs.
};

// A table of rows; what is asked of it is asked of each row.
class Sources {
 public:
  explicit constexpr Sources(std::span<const Source> rows) : rows_{rows} {}

  std::span<const Source> rows() const { return rows_; }
  Result<Source> named(std::string_view name) const;  // With "did you mean".
  // The one source that claims these bytes; kUnsupported if none or several do. UTF-16 is undone.
  Result<Source> claiming(std::string_view head, const ReaderOptions& options = {}) const;
  // The same for files that are read with one set of options: a mapping or a list of fields is for
  // those that need it, and is taken out of `options` for others.
  Result<Source> fitting(std::string_view head, ReaderOptions& options) const;

 private:
  Result<Source> guessed(std::string_view bytes, const ReaderOptions& options) const;

  std::span<const Source> rows_;
};

const Sources& sources();  // All that we can read.

inline constexpr std::size_t kHeadBytes = 4096;                  // What `claims` may look at.
inline constexpr std::size_t kMostHead = std::size_t{64} << 10;  // And `guesses`.

// A reader of `source`; UTF-16 with its mark is undone on the way to it.
std::unique_ptr<Reader> make_reader(const Source& source, Intake& intake,
                                    const ReaderOptions& options);
// What the head says, with what it gives refined; see Source::explain.
Explained explain(const Source& source, std::string_view head, const ReaderOptions& options);
// The part of the first bytes that `explain` and readers judge an input by.
std::string_view telling_part(std::string_view head);

}  // namespace amdahl::fleet
