// column.h: what one column of a table looks like: its name in plain letters, and its first cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/head.h"

namespace amdahl::fleet::table {

struct Column {
  std::string name;     // As in the header.
  std::string plain;    // "gpuutil" of "GPU util (%)": letters and digits outside brackets, small.
  std::string unit;     // "%": what stands in brackets, small.
  std::string example;  // The first cell that is not blank.
  int filled = 0;       // Cells that are not blank.
  int numbers = 0;      // Of them numbers, with or without a unit.
  int durations = 0;    // "1-02:03:04".
  int devices = 0;      // "gres/gpu:a100=2", "gpu:2", "1001=2".
  double least = 0;     // Of the numbers.
  double most = 0;
  bool fractions = false;  // Some number is not whole.
  // How its cells are read as times, as in a mapping: "auto", "epoch_s", a pattern. Empty: they are
  // no times, or `unclear`.
  std::string time;
  std::string unclear;     // Why not, if they are times: "03/04/2020 may be ...".
  bool from_zero = false;  // A clock that starts at 0, not in 1970.

  bool is_number() const { return filled > 0 && numbers * 5 >= filled * 4; }
  bool is_whole() const { return is_number() && !fractions; }
  bool is_time() const { return !time.empty(); }
  bool is_duration() const { return is_number() || (filled > 0 && durations * 5 >= filled * 4); }
};

// What a column without a filled cell may be, too.
inline bool may_be_number(const Column& c) { return c.filled == 0 || c.is_number(); }
inline bool may_be_time(const Column& c) {
  return c.filled == 0 || c.is_time() || !c.unclear.empty();
}

// `decimal`: the sign before fractions, as head_decimal() found it.
std::vector<Column> columns_of(const Head& head, char decimal);

// ',' where numbers of the table are written so, else '.'.
char head_decimal(const Head& head);

// Letters and digits of a name, small; what is in brackets is its unit.
std::string plain_name(std::string_view name, std::string* unit = nullptr);

}  // namespace amdahl::fleet::table
