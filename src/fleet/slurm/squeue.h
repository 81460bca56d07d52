// squeue.h: reads `squeue` output with a header: jobs running or waiting now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/slurm/job.h"

namespace amdahl::fleet::slurm {

// "JOBID PARTITION ..." or "JOBID|PARTITION|...".
bool is_squeue_header(std::string_view line);

class Squeue {
 public:
  Squeue(Intake& intake, Jobs& jobs) : intake_{intake}, jobs_{jobs} {}

  // Fails if the columns lack start times or resources.
  Result<> line(std::string_view line, Where where);

 private:
  using Member = std::string_view JobFields::*;

  Result<> header(std::string_view line);
  void cut(std::string_view line);

  Intake& intake_;
  Jobs& jobs_;
  std::string header_;
  bool bars_ = false;  // Cells separated by '|'; else by blanks.
  std::vector<Member> columns_;
  int per_node_ = -1;  // TRES_PER_NODE or GRES.
  std::vector<std::string_view> cells_;
};

}  // namespace amdahl::fleet::slurm
