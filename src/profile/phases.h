// phases.h: which kind of time a phase's name speaks of.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/profile.h"
#include "profile/cause_kinds.h"

namespace amdahl::profile {

// One kind of time. The rows are tried in order; docs/format/evidence.md shows them.
struct Kind {
  std::string_view share;  // The evidence that sums it: "startup_share".
  CauseKind cause;         // "lifecycle.startup", "start-up".
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::span<const std::string_view> words;  // Any of these among the words of the name.
};

std::span<const Kind> kinds();

// The kind of a phase, nullptr if its name says nothing. Names are cut into words at everything
// but letters and digits and where a capital follows a small letter: "wait_input", "DataLoad".
const Kind* kind_of(std::string_view phase);

}  // namespace amdahl::profile
