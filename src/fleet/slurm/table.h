// table.h: reads `sacct -P` (and -p): a line a record, columns in any order, any delimiter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/slurm/job.h"

namespace amdahl::fleet::slurm {

// Whether this line is the header of such a table.
bool is_table_header(std::string_view line);
// Whether it can be nothing else: other tables have some of these names too.
bool is_surely_table_header(std::string_view line);
// For people: which of its columns are used, and which are not.
std::string explain_header(std::string_view line);
// What to type for a table that can be read.
std::string_view how_to_ask_sacct();

class Table {
 public:
  // `fields`: the -o list, for output without a header; empty: the first line is one.
  // `lines_stay`: they lie one behind the other in memory until after finish().
  Table(Intake& intake, Jobs& jobs, std::string_view fields, bool lines_stay = false);

  // A line that is not a whole record waits for the next. Jobs are told with views of the line, or
  // of this where a record has several lines and they do not stay.
  Result<> line(std::string_view line, Where where);
  void finish();                                        // No more lines come: none is to wait for.
  bool has_header() const { return !header_.empty(); }  // As far as lines have come.

 private:
  using Member = std::string_view JobFields::*;

  Result<> columns_from(const std::vector<std::string_view>& names);
  void free_lists();
  Result<> header(std::string_view line);
  Result<> find_delimiter(std::string_view line);
  void cut(std::string_view line);
  void record(std::string_view line, Where where);
  void first_line(std::string_view line, Where where);
  void next_line(std::string_view line, Where where);
  void wait(std::string_view line, Where where);
  void tell(Where where);
  void give_up(std::string_view line, Where where);
  bool fits() const;
  bool may_be(std::size_t column, std::string_view cell) const;
  bool join_free_text();
  bool choose_widths(std::vector<std::size_t>& widths) const;

  Intake& intake_;
  Jobs& jobs_;
  std::string fields_;
  std::string header_;           // As read: it comes again where files were joined.
  std::string delimiter_;        // Empty: not known yet.
  std::vector<Member> columns_;  // Null: a column that we do not use.
  std::vector<int> free_;        // By column: above 0 if it may hold the delimiter and line ends.
  std::vector<std::string_view> cells_;
  bool is_closed_ = false;  // Lines end with a delimiter, as of -p.
  bool lines_stay_;
  std::string_view waiting_;  // A record whose next line is to come; of kept_ if lines do not stay.
  Where waits_at_;
  std::string kept_;
};

}  // namespace amdahl::fleet::slurm
