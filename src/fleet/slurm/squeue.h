// squeue.h: reads what `squeue` prints with a header: jobs that run or wait now.
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

  // An error if its columns do not say when jobs began and what they hold.
  Result<> line(std::string_view line, Where where);

 private:
  using Member = std::string_view JobFields::*;

  Result<> header(std::string_view line);
  void cut(std::string_view line);

  Intake& intake_;
  Jobs& jobs_;
  std::string header_;
  bool bars_ = false;  // Between cells; else blanks.
  std::vector<Member> columns_;
  int per_node_ = -1;  // TRES_PER_NODE or GRES.
  std::vector<std::string_view> cells_;
};

}  // namespace amdahl::fleet::slurm
