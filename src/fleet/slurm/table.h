// table.h: reads `sacct -P` (and -p): one record per line, columns in any order, any delimiter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/slurm/job.h"

namespace amdahl::fleet::slurm {

// Whether this line is the header of such a table.
bool is_table_header(std::string_view line);
// Whether it cannot be anything else: other tables share some of these names.
bool is_surely_table_header(std::string_view line);
// For people: which columns are used, and which are not.
std::string explain_header(std::string_view line);
// The command that prints a readable table.
std::string_view how_to_ask_sacct();

class Table {
 public:
  // `fields`: the -o list, for output without a header; empty: the first line is the header.
  // `lines_stay`: lines are contiguous in memory and valid until after finish().
  Table(Intake& intake, Jobs& jobs, std::string_view fields, bool lines_stay = false);

  // An incomplete record waits for the next line. Jobs have views into the line, or into this
  // object if a record spans lines and `lines_stay` is false.
  Result<> line(std::string_view line, Where where);
  void finish();                                        // End of input.
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
  std::string header_;           // As read: repeated where files were concatenated.
  std::string delimiter_;        // Empty: unknown.
  std::vector<Member> columns_;  // Null: unused column.
  std::vector<int> free_;        // By column: above 0 if it may contain the delimiter and newlines.
  std::vector<std::string_view> cells_;
  bool is_closed_ = false;  // Lines end with a delimiter (-p).
  bool lines_stay_;
  std::string_view waiting_;  // An incomplete record; in kept_ unless lines stay.
  Where waits_at_;
  std::string kept_;
};

}  // namespace amdahl::fleet::slurm
