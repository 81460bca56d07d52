// cells.h: cuts one record of a CSV file into its cells.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::fleet::table {

// RFC 4180: a cell in quotes may contain the delimiter, line ends, and quotes written twice.
class Cells {
 public:
  // False if a quote is still open: the record goes on in the next line. The cells live until the
  // next call, as long as `record` does. Blanks around cells are cut off.
  bool cut(std::string_view record, char delimiter);
  // Cells that were cut already; they must outlive this.
  void assign(const std::vector<std::string>& cells) { cells_.assign(cells.begin(), cells.end()); }

  std::size_t size() const { return cells_.size(); }
  std::string_view operator[](std::size_t i) const { return cells_[i]; }
  const std::vector<std::string_view>& all() const { return cells_; }

 private:
  // The cell in quotes at the front of `record`, which it takes off; false if it does not end.
  bool quoted(std::string_view& record, char delimiter);

  std::vector<std::string_view> cells_;
  std::deque<std::string> owned_;  // Cells whose quotes had to be undone.
};

}  // namespace amdahl::fleet::table
