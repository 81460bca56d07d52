// fixed_table.h: reads sacct's table for people, whose columns stand where the dashes below their
// names are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/slurm/table.h"

namespace amdahl::fleet::slurm {

// Whether this line is the header of such a table.
bool is_fixed_width_header(std::string_view line);

// Cells that sacct has cut end in '+': of names the rest is missing, a list of hosts is not known,
// and a record whose number or resources are cut is counted and passed over.
class FixedTable {
 public:
  FixedTable(Intake& intake, Jobs& jobs) : intake_{intake}, table_{intake, jobs, ""} {}

  Result<> line(std::string_view line, Where where);
  Result<> finish();  // An error if there was no more than a header.

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
  std::string names() const;  // The header as Table reads it.

  Intake& intake_;
  Table table_;
  std::string header_;
  std::vector<Span> spans_;  // Empty until the dashes have come.
};

}  // namespace amdahl::fleet::slurm
