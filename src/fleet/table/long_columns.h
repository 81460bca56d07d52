// long_columns.h: what the columns of a long table of samples mean, by the names in its header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/head.h"
#include "fleet/table/mapping.h"
#include "fleet/times.h"

namespace amdahl::fleet::table {

enum class LongRole : std::uint8_t {
  kOther,  // Passed over.
  kTime,
  kHost,
  kDevice,
  kUuid,
  kSlice,
  kProfile,  // Of the slice.
  kJob,
  kKind,
  kMetric,  // The metric's name is in the row; its value in kValue.
  kValue,
  kUsage,  // The column's name is the metric.
};

struct LongColumn {
  std::string name;
  LongRole role = LongRole::kOther;
  std::string metric{};  // Of kUsage: as it is told; empty: as the column is called.
};

struct LongColumns {
  std::vector<LongColumn> list;
  char delimiter = ',';
  // Values in a row: the places of kUsage, or of kValue.
  std::vector<std::size_t> values;
  // Whether a row is the time, then all that names the series side by side, then the rest: then
  // the bytes in between are the series' key as they stand.
  bool is_plain = false;
  std::size_t key_end = 0;  // The column after the last of the key.
  // Meanings were told by the first lines: those that follow may show the unit to be wrong.
  bool is_guess = false;
};

// Nothing if the line is not the header of such a table: it needs a time, a host, a device and a
// metric that says how busy the device is.
std::optional<LongColumns> long_columns_of(std::string_view header);

// The same of a table whose columns were guessed, whatever they are called, so that names do not
// decide on speed. Nothing if the mapping says more than which column is what.
std::optional<LongColumns> long_columns_by(const Mapping& mapping, const Head& head,
                                           const Zone& zone);

}  // namespace amdahl::fleet::table
