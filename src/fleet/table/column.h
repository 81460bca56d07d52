// column.h: a column of a table: its normalised name and statistics of its first cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/head.h"

namespace amdahl::fleet::table {

struct Column {
  std::string name;  // As in the header.
  // "gpuutil" for "GPU util (%)": lower-case letters and digits outside brackets.
  std::string plain;
  std::string unit;     // "%": the text in brackets, lower case.
  std::string example;  // First non-blank cell.
  int filled = 0;       // Non-blank cells.
  int numbers = 0;      // Numbers, with or without a unit.
  int durations = 0;    // "1-02:03:04".
  int devices = 0;      // "gres/gpu:a100=2", "gpu:2", "1001=2".
  double least = 0;     // Smallest number.
  double most = 0;
  bool fractions = false;  // Some number is not an integer.
  // Time format of its cells as in a mapping: "auto", "epoch_s", a pattern. Empty: not times, or
  // `unclear`.
  std::string time;
  std::string unclear;     // Why not, if they are times: "03/04/2020 may be ...".
  bool from_zero = false;  // Clock that starts at 0, not in 1970.

  bool is_number() const { return filled > 0 && numbers * 5 >= filled * 4; }
  bool is_whole() const { return is_number() && !fractions; }
  bool is_time() const { return !time.empty(); }
  bool is_duration() const { return is_number() || (filled > 0 && durations * 5 >= filled * 4); }
};

// True for a column without values too.
inline bool may_be_number(const Column& c) { return c.filled == 0 || c.is_number(); }
inline bool may_be_time(const Column& c) {
  return c.filled == 0 || c.is_time() || !c.unclear.empty();
}

// `decimal`: the decimal separator from head_decimal().
std::vector<Column> columns_of(const Head& head, char decimal);

// ',' if the table's numbers use it, else '.'.
char head_decimal(const Head& head);

// Lower-case letters and digits of a name; the text in brackets is its unit.
std::string plain_name(std::string_view name, std::string* unit = nullptr);

}  // namespace amdahl::fleet::table
