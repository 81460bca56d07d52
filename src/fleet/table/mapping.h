// mapping.h: which column of a CSV file means what, as docs/format/csv-mapping.md describes it.
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

// What one line speaks of.
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

// Where the value of a field comes from.
struct From {
  enum class What : std::uint8_t { kNothing, kColumn, kConstant, kLine, kFile };
  What what = What::kNothing;
  std::string column;    // Its name; without a header its number, from 1.
  std::string times;     // Another column that it is multiplied by; empty: none.
  std::string also;      // A second column: of an id behind a slash, of a date its time; or none.
  std::string constant;  // kConstant.
  double scale = 1;      // To seconds, to 0..1, to the metric's own unit.
  bool has_unit = false;
  TimeFormat time;
  std::map<std::string, std::string, std::less<>> words;  // Of states: theirs to ours.
  char separator = ',';                                   // Of lists of hosts.
  char cut = '\0';    // What a host's (or file's) name ends at: ':' in "a0128:1"; 0: nothing.
  char after = '\0';  // What a file's name begins after; 0: nothing.

  bool given() const { return what != What::kNothing; }
};

// One column of many that each hold a series.
struct ValueColumn {
  std::string column;  // May contain one '*', which then stands for the accelerator.
  std::string metric;
  std::string host;          // Empty: as the line says.
  std::string accelerator;   // Empty: as the '*', or as the line says.
  bool in_fraction = false;  // From 0 to 1, as its unit says.
  bool by_labels = false;    // Columns are named by labels: `DCGM_FI_DEV_GPU_UTIL{gpu="0", ...}`.
  std::string split;         // What stands for the '*' is a host, this, and an accelerator.
  double scale = 1;
};

struct Filter {
  std::string column;
  std::vector<std::string> is;      // Only lines with one of these; empty: any.
  std::vector<std::string> is_not;  // And none of these.
};

struct Mapping {
  Row row = Row::kJob;
  char delimiter = '\0';  // 0: the one that the first line has most of: , tab ; or |.
  bool header = true;
  char decimal = '.';        // What stands before fractions: '.' or ','.
  std::string comment;       // Lines that begin so are passed over; empty: none do.
  std::optional<Zone> zone;  // Of times without one; wins over the option.
  std::array<From, kFieldCount> from;
  std::string metric;  // Of the column `utilisation`.
  // Units of shares were told by the first lines: those that follow may show them to be wrong.
  bool is_guess = false;
  std::vector<ValueColumn> values;
  std::vector<Filter> where;

  const From& operator[](Field field) const { return from[static_cast<std::size_t>(field)]; }
};

// Errors name the line of the mapping.
Result<Mapping> parse_mapping(std::string_view toml);

}  // namespace amdahl::fleet::table
