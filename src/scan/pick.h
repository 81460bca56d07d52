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

// What is known about families besides the report.
struct Standing {
  // Families with a spec, and why there is nothing to do with them now; empty if there is.
  std::map<std::string, std::string> specs{};
  std::set<std::string> local_jobs{};  // Jobs for which a spec can be drafted: amdahl adopt JOB.
  bool slurm_knows = false;            // Others are jobs of the Slurm here: amdahl adopt slurm:ID.
};

// What `amdahl adopt` takes for the job; empty if nothing is known to draft a spec from.
std::string adopted_as(const std::string& job, const std::set<std::string>& local_jobs,
                       bool slurm_knows);

struct Candidate {
  std::string family;
  double recoverable = 0;  // Accelerator-seconds.
  double wasted = 0;
  std::string job;        // The job of the family that wasted most.
  bool has_spec = false;  // Without one nothing can be tried: amdahl adopt JOB.
  // For the pick: "120 accelerator-hours recoverable: 400 of 900 ...". For skipped families: the
  // obstacle, and what to type.
  std::string why;
};

struct Pick {
  std::optional<Candidate> first;  // Nothing if no family has recoverable time.
  std::vector<Candidate> next;     // The families to work on after it, in order.
  // Families ranked higher that cannot be worked on; the first few.
  std::vector<Candidate> passed_over;
  std::size_t passed = 0;  // Number of all of these.
  std::string why;         // One sentence, also if there is nothing to do.
};

// The family with the most recoverable time that can be experimented on; if there is none, the
// first that only lacks a spec. At most `at_most` entries per list.
Pick pick(const Report& report, const Standing& standing, std::size_t at_most = 10);

}  // namespace amdahl::scan
