// pick.h: which family the loop works on next, and why.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "scan/report.h"

namespace amdahl::scan {

struct Pick {
  std::string family;
  double recoverable = 0;  // Accelerator-seconds.
  std::string job;         // Of the family, that wasted most.
  bool has_spec = false;   // Without one nothing can be tried: amdahl adopt JOB.
  // "pick train of u1: at most 120 of 400 wasted accelerator-hours in 31 jobs are ...".
  std::string why;
};

// The first ranked family that can be experimented on; if there is none, the first at all. Nothing
// if no family has anything to get back. `with_spec`: names of families that have one.
std::optional<Pick> pick(const Report& report, const std::set<std::string, std::less<>>& with_spec);

}  // namespace amdahl::scan
