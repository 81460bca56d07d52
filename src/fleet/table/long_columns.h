// long_columns.h: the meaning of a long sample table's columns, by their names.
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
  kOther,  // Ignored.
  kTime,
  kHost,
  kDevice,
  kUuid,
  kSlice,
  kProfile,  // MIG profile of the slice.
  kJob,
  kKind,
  kMetric,  // Name of the metric; the value is in kValue.
  kValue,
  kUsage,  // The column's name is the metric.
};

struct LongColumn {
  std::string name;
  LongRole role = LongRole::kOther;
  std::string metric{};  // For kUsage: the metric; empty: the column's name.
};

struct LongColumns {
  std::vector<LongColumn> list;
  char delimiter = ',';
  // Indices of the value columns: kUsage, or kValue.
  std::vector<std::size_t> values;
  // A row is the time, then adjacent series columns, then the rest: the bytes in between are the
  // series key.
  bool is_plain = false;
  std::size_t key_end = 0;  // The column after the last key column.
  // Meanings were guessed from the first lines: later lines may contradict the unit.
  bool is_guess = false;
};

// Nothing if the line is not such a header: it needs a time, a host, a device and a utilisation
// metric.
std::optional<LongColumns> long_columns_of(std::string_view header);

// The same for guessed columns of any name, so that speed does not depend on names. Nothing if the
// mapping contains more than column meanings.
std::optional<LongColumns> long_columns_by(const Mapping& mapping, const Head& head,
                                           const Zone& zone);

}  // namespace amdahl::fleet::table
