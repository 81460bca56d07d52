// cells.h: splits one CSV record into cells.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::fleet::table {

// RFC 4180: a quoted cell may contain the delimiter, newlines, and doubled quotes.
class Cells {
 public:
  // False if a quote is still open: the record continues on the next line. Cells are valid until
  // the next call, as long as `record` is. Trims blanks.
  bool cut(std::string_view record, char delimiter);
  // Takes cells that are already split; they must outlive this.
  void assign(const std::vector<std::string>& cells) { cells_.assign(cells.begin(), cells.end()); }

  std::size_t size() const { return cells_.size(); }
  std::string_view operator[](std::size_t i) const { return cells_[i]; }
  const std::vector<std::string_view>& all() const { return cells_; }

 private:
  // Takes the quoted cell at the front of `record`; false if it is not closed.
  bool quoted(std::string_view& record, char delimiter);

  std::vector<std::string_view> cells_;
  std::deque<std::string> owned_;  // Cells that had to be unquoted.
};

}  // namespace amdahl::fleet::table
