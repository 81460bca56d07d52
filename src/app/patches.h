// patches.h: mechanical findings of a profile as hypotheses: patches for the loop to test.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "profile/findings.h"

namespace amdahl::app {

// What they come from: Hypothesis::origin.kind.
inline constexpr std::string_view kFromCode = "code";

struct PatchIdeas {
  std::vector<model::Hypothesis> ideas;
  // Why some patch cannot be tested: "2 patches cannot be tested: add repo = ... to the spec".
  std::string untestable;
};

// One for each finding with a patch that would save at least `min_gain` of the cost. A line whose
// own time was measured can gain most of that time; where only a cause is known, other findings may
// explain it as well and share it.
PatchIdeas ideas_from(const ledger::Family& family, const model::Profile& profile,
                      std::span<const profile::Finding> findings, std::string_view hardware,
                      double min_gain);

}  // namespace amdahl::app
