// pick.h: which family the loop works on next, and why.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scan/report.h"

namespace amdahl::scan {

// What is known of families besides the report.
struct Standing {
  // Those that have a spec, to why there is nothing to do with them now; empty where there is.
  std::map<std::string, std::string> specs{};
  std::set<std::string> local_jobs{};  // Of which a spec can be drafted: amdahl adopt JOB.
};

struct Candidate {
  std::string family;
  double recoverable = 0;  // Accelerator-seconds.
  double wasted = 0;
  std::string job;        // Of the family, that wasted most.
  bool has_spec = false;  // Without one nothing can be tried: amdahl adopt JOB.
  // Of the pick: "120 accelerator-hours recoverable: 400 of 900 ...". Of what was passed over: what
  // stands in the way, and what to type.
  std::string why;
};

struct Pick {
  std::optional<Candidate> first;      // Nothing if no family has recoverable time.
  std::vector<Candidate> next;         // In what order the others follow that can be worked on.
  std::vector<Candidate> passed_over;  // The first of what ranks before it and cannot,
  std::size_t passed = 0;              // and how many there are of that.
  std::string why;                     // One sentence, also where there is nothing to do.
};

// The first in the order of what is recoverable that can be experimented on. If there is none, the
// first that a spec would make so. `at_most` of each list.
Pick pick(const Report& report, const Standing& standing, std::size_t at_most = 10);

}  // namespace amdahl::scan
