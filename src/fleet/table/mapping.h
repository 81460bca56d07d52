// mapping.h: the meaning of a CSV file's columns (docs/format/csv-mapping.md).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/times.h"

namespace amdahl::fleet::table {

// What one row describes.
enum class Row : std::uint8_t { kJob, kSample, kPlace, kCapacity, kOccupancy, kDevice };

enum class Field : std::uint8_t {
  kId,
  kRaw,
  kName,
  kUser,
  kAccount,
  kPartition,
  kKind,
  kScript,
  kHosts,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kElapsed,
  kAccelerators,
  kHostCount,
  kUtilisation,
  kTime,
  kHost,
  kAccelerator,
  kUuid,
  kSlice,
  kJob,
  kMetric,
  kValue,
  kTotal,
  kAllocated,
  kIdle,
  kDown,
  kHeld,
};
inline constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::kHeld) + 1;
std::string_view name(Field field);  // As in a mapping: "elapsed".

// Source of a field's value.
struct From {
  enum class What : std::uint8_t { kNothing, kColumn, kConstant, kLine, kFile };
  What what = What::kNothing;
  std::string column;    // Name; without a header its 1-based number.
  std::string times;     // Another column to multiply by; empty: none.
  std::string also;      // Second column: id after a slash, or time of a date; empty: none.
  std::string constant;  // kConstant.
  double scale = 1;      // To seconds, to 0..1, or to the metric's own unit.
  bool has_unit = false;
  TimeFormat time;
  std::map<std::string, std::string, std::less<>> words;  // For states: theirs to ours.
  char separator = ',';                                   // For host lists.
  char cut = '\0';    // A host (or file) name ends here: ':' in "a0128:1"; 0: none.
  char after = '\0';  // A file name starts after it; 0: none.

  bool given() const { return what != What::kNothing; }
};

// One of several columns that each hold a series.
struct ValueColumn {
  std::string column;  // May contain one '*', which stands for the accelerator.
  std::string metric;
  std::string host;          // Empty: from the row.
  std::string accelerator;   // Empty: from the '*', or from the row.
  bool in_fraction = false;  // 0 to 1, as its unit says.
  bool by_labels = false;    // Column names contain labels: `DCGM_FI_DEV_GPU_UTIL{gpu="0", ...}`.
  std::string split;         // The '*' is a host, this text, and an accelerator.
  double scale = 1;
};

struct Filter {
  std::string column;
  std::vector<std::string> is;      // Only rows with one of these; empty: all.
  std::vector<std::string> is_not;  // Not rows with one of these.
};

struct Mapping {
  Row row = Row::kJob;
  char delimiter = '\0';  // 0: the most frequent one in the first line: , tab ; or |.
  bool header = true;
  char decimal = '.';        // Decimal separator: '.' or ','.
  std::string comment;       // Prefix of lines to skip; empty: none.
  std::optional<Zone> zone;  // For times without one; takes precedence over the option.
  std::array<From, kFieldCount> from;
  std::string metric;  // Of the column `utilisation`.
  // Units of shares were guessed from the first lines: later lines may contradict them.
  bool is_guess = false;
  std::vector<ValueColumn> values;
  std::vector<Filter> where;

  const From& operator[](Field field) const { return from[static_cast<std::size_t>(field)]; }
};

// Whether a line is one accelerator of a job, not a job.
inline bool is_placed(const Mapping& mapping) {
  return mapping.row == Row::kJob && mapping[Field::kAccelerator].given();
}

// Errors name the line of the mapping.
Result<Mapping> parse_mapping(std::string_view toml);

}  // namespace amdahl::fleet::table
