// csv_rows.h: reads CSV rows from a stream that may contain other lines.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::trace::ncu {

// Fed in chunks of any size. A row whose first field is quoted may span lines within quotes; every
// other line is a row.
class CsvRows {
 public:
  using Each = std::function<void(std::span<const std::string> fields)>;

  explicit CsvRows(Each each) : each_(std::move(each)) {}

  void feed(std::string_view bytes);
  void finish();  // The last row may lack its newline.

  std::size_t too_long() const { return too_long_; }  // Rows that were skipped.

 private:
  // Position after the row that starts at `begin`; npos if its end has not arrived.
  std::size_t end_of_row(std::size_t begin, bool is_last);
  void take(std::string_view row);

  Each each_;
  std::string pending_;
  std::vector<std::string> fields_;
  std::size_t too_long_ = 0;
};

// Splits a row into fields and removes quoting.
void split_csv(std::string_view row, std::vector<std::string>& fields);

}  // namespace amdahl::trace::ncu
