// placed_jobs.h: jobs of tables with one line per accelerator that a job held.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "fleet/intake.h"

namespace amdahl::fleet::table {

// Collects lines until the end of the table, because those of one job may be anywhere. Lines with
// the same id, start and end are one job; an accelerator that is named twice counts once.
class PlacedJobs {
 public:
  // `job` without accelerators and hosts.
  void add(const model::JobDraft& job, std::string_view host, std::string_view accelerator,
           Where where);

  void tell(Intake& intake);  // All jobs and their assignments; none are left.

 private:
  struct Placed {
    model::JobDraft draft;  // Its texts are views of `texts`.
    std::set<std::string> texts;
    std::set<std::pair<std::string, std::string>> places;  // Host and accelerator.
    Where where;
    double utilisation = 0;  // Sum over the lines that say it.
    int lines = 0;
  };
  std::map<std::tuple<std::string, Nanos, Nanos>, Placed> jobs_;
};

}  // namespace amdahl::fleet::table
