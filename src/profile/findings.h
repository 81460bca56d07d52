// findings.h: lines of source joined with what they cost: a finding without a cost is none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "code/finding.h"
#include "model/change.h"
#include "model/profile.h"
#include "profile/gaps.h"
#include "profile/lines.h"

namespace amdahl::profile {

struct Finding {
  code::Finding code;           // The dearest line of those that the rule named in one function.
  std::vector<int> more_lines;  // The others.
  double accelerator_seconds = 0;
  double share = 0;       // Of the job's allocated time.
  double expected = 1;    // Speed-up if its time vanished from the run as it was: 1/(1-share).
  double ceiling = 1;     // At most: of what it touches besides, and where nobody takes its CPUs.
  bool measured = false;  // By the time of its own lines; else the time of the whole cause.
  std::string cause;      // The evidence it explains; "" if it was measured and nothing names it.
  int sharing = 0;        // Other findings that the cause's time could be due to as well.
  std::string because;    // One sentence with the numbers in it.

  friend bool operator==(const Finding&, const Finding&) = default;
};

// The time of the cause is an upper bound for each finding that shares it; times of lines are
// sums of samples. Below kSmallestCause nothing is said. Dearest first.
std::vector<Finding> findings(std::span<const code::Finding> found, const model::Profile& profile,
                              std::span<const LineCost> lines);

// Places of a trace's gaps as costs of lines: the time a device waited while the host was there.
std::vector<LineCost> line_costs(const DeviceGaps& gaps);

// The share of the time that went to imports for nothing.
double needless_imports(std::span<const Finding> findings);

// The class of what it costs: levers against that are counted together.
model::Bottleneck acts_on(const Finding& finding);

// What to test: its patch, if it is mechanical. Empty if it is not.
model::Change change_of(const Finding& finding);

}  // namespace amdahl::profile
