// csv_rows.h: rows of comma-separated fields out of a stream that may hold other lines as well.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::trace::ncu {

// Fed in pieces of any size. A row whose first field is quoted goes on over line ends within
// quotes; every other line is a row by itself.
class CsvRows {
 public:
  using Each = std::function<void(std::span<const std::string> fields)>;

  explicit CsvRows(Each each) : each_(std::move(each)) {}

  void feed(std::string_view bytes);
  void finish();  // The last row may lack its line end.

  std::size_t too_long() const { return too_long_; }  // Rows that were given up.

 private:
  // Where the row that starts at `begin` ends, behind its line end; npos if that is to come.
  std::size_t end_of_row(std::size_t begin, bool is_last);
  void take(std::string_view row);

  Each each_;
  std::string pending_;
  std::vector<std::string> fields_;
  std::size_t too_long_ = 0;
};

// A row's fields: quotes taken away, doubled ones made single.
void split_csv(std::string_view row, std::vector<std::string>& fields);

}  // namespace amdahl::trace::ncu
