// findings.h: joins findings in the source with what the lines cost; without a cost, no finding.
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
  code::Finding code;           // The most expensive line that the rule matched in one function.
  std::vector<int> more_lines;  // The other lines.
  double accelerator_seconds = 0;
  double share = 0;     // Of the job's allocated time.
  double expected = 1;  // Speed-up if its measured time vanished: 1/(1-share).
  // Upper bound: includes other time it affects, and CPU time that others took.
  double ceiling = 1;
  bool measured = false;  // From the time of its own lines; else the time of the whole cause.
  std::string cause;      // Evidence it explains; "" if measured without a named cause.
  int sharing = 0;        // Other findings that could explain the cause's time too.
  std::string because;    // One sentence with the numbers in it.

  friend bool operator==(const Finding&, const Finding&) = default;
};

// The time of a cause is an upper bound for each finding that shares it; times of lines are sums
// of samples. Findings below kSmallestCause are omitted. Most expensive first.
std::vector<Finding> findings(std::span<const code::Finding> found, const model::Profile& profile,
                              std::span<const LineCost> lines);

// Places of a trace's gaps as line costs: the time a device waited while the host was there.
std::vector<LineCost> line_costs(const DeviceGaps& gaps);

// Share of the time spent on unused imports.
double needless_imports(std::span<const Finding> findings);

// The class of its cost. Fixes for the same class are counted together.
model::Bottleneck acts_on(const Finding& finding);

// The change to test: its patch; empty if there is none.
model::Change change_of(const Finding& finding);

}  // namespace amdahl::profile
