// fixed_table.h: reads sacct's fixed-width table, whose columns follow the dashes below the
// header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/slurm/table.h"

namespace amdahl::fleet::slurm {

// Whether this line is the header of such a table.
bool is_fixed_width_header(std::string_view line);

// Truncated cells end in '+'. A truncated name is used as it is, a truncated host list is unknown,
// and a record with a truncated id or resources is counted and skipped.
class FixedTable {
 public:
  FixedTable(Intake& intake, Jobs& jobs) : intake_{intake}, table_{intake, jobs, ""} {}

  Result<> line(std::string_view line, Where where);
  Result<> finish();  // Fails if there was only a header.

 private:
  struct Span {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool is_id = false;
    bool is_tres = false;
    bool is_hosts = false;
  };

  void find_spans(std::string_view dashes);
  std::string_view cell(std::string_view line, const Span& span) const;
  std::string names() const;  // The header in Table's syntax.

  Intake& intake_;
  Table table_;
  std::string header_;
  std::vector<Span> spans_;  // Empty until the line of dashes.
};

}  // namespace amdahl::fleet::slurm
