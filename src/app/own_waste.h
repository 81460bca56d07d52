// own_waste.h: the jobs of one user or account in a scan: what they waste, where, and what helps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/scan.h"
#include "base/result.h"
#include "scan/anatomy.h"
#include "scan/report.h"

namespace amdahl::app {

struct OwnFamily {
  std::string name{};
  std::uint64_t jobs = 0;
  scan::Split split{};  // Accelerator-seconds.
};

struct OwnJob {
  std::string id{};
  std::string name{};
  std::string family{};
  std::string user{};
  std::string state{};
  Nanos start{};
  scan::Split split{};
  std::string part{};      // Its largest lost part; empty if no timeline was kept.
  std::string evidence{};  // Of that part.
  std::string action{};    // What usually helps.
};

struct OwnWaste {
  scan::By by = scan::By::kUser;
  std::string name{};
  std::uint64_t jobs = 0;
  std::uint64_t lost_jobs = 0;  // Failed.
  scan::Split split{};
  double lost = 0;                    // Allocated to lost jobs.
  std::vector<OwnFamily> families{};  // Those that wasted most first, at most `most`.
  std::vector<OwnJob> worst{};        // The same of jobs.
};

// One pass over the scan's jobs. kBadInput unless `by` is user or account; kNotFound if nobody of
// this name held an accelerator.
Result<OwnWaste> own_waste(const FleetAnswer& fleet, scan::By by, const std::string& name,
                           std::size_t most);

}  // namespace amdahl::app
