// patches.h: turns mechanical findings of a profile into hypotheses with patches.
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

// Hypothesis::origin.kind of these.
inline constexpr std::string_view kFromCode = "code";

struct PatchIdeas {
  std::vector<model::Hypothesis> ideas;
  // Why some patch cannot be tested: "2 patches cannot be tested: add repo = ... to the spec".
  std::string untestable;
};

// One for each finding with a patch that would save at least `min_gain` of the cost. A measured
// line can gain most of its time; if only a cause is known, other findings may explain it too, and
// they share it.
PatchIdeas ideas_from(const ledger::Family& family, const model::Profile& profile,
                      std::span<const profile::Finding> findings, std::string_view hardware,
                      double min_gain);

}  // namespace amdahl::app
