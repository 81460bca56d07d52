// json.h: reads `sacct --json` and `squeue --json` of Slurm 22.05 and later, job by job.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "fleet/json_items.h"
#include "fleet/slurm/job.h"

namespace amdahl::fleet::slurm {

class Json {
 public:
  Json(Intake& intake, Jobs& jobs);
  ~Json();

  Result<> feed(std::string_view bytes);
  Result<> finish();

 private:
  struct Parser;  // simdjson's header is heavy.
  void item(std::string_view key, std::string_view text, Where where);

  Intake& intake_;
  Jobs& jobs_;
  std::unique_ptr<Parser> parser_;
  JsonItems items_;
  bool begun_ = false;
  bool is_list_ = false;  // A bare list of jobs.
};

}  // namespace amdahl::fleet::slurm
