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
// Whether it is that of sacct's table for people, which cuts what it shows.
bool is_fixed_width_header(std::string_view line);

class Table {
 public:
  // `fields`: the -o list, for output without a header; empty: the first line is one.
  Table(Intake& intake, Jobs& jobs, std::string_view fields);

  Result<> line(std::string_view line, Where where);
  bool has_header() const { return !header_.empty(); }  // As far as lines have come.

 private:
  using Member = std::string_view Words::*;

  Result<> columns_from(const std::vector<std::string_view>& names);
  Result<> header(std::string_view line);
  Result<> find_delimiter(std::string_view line);
  void record(std::string_view line, Where where);
  bool join_free_text();

  Intake& intake_;
  Jobs& jobs_;
  std::string fields_;
  std::string header_;           // As read: it comes again where files were joined.
  std::string delimiter_;        // Empty: not known yet.
  std::vector<Member> columns_;  // Null: a column that we do not use.
  int free_text_ = -1;           // The one column that may contain the delimiter.
  std::vector<std::string_view> cells_;
};

}  // namespace amdahl::fleet::slurm
