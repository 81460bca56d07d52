// phases.h: which kind of time a phase is, by its name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/profile.h"
#include "profile/cause_kinds.h"

namespace amdahl::profile {

// One kind of time. Rows are tried in order; docs/format/evidence.md lists them.
struct Kind {
  std::string_view share;  // Evidence that sums it: "startup_share".
  CauseKind cause;         // "lifecycle.startup", "start-up".
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::span<const std::string_view> words;  // Matches if the name contains one of these words.
};

std::span<const Kind> kinds();

// The kind of a phase, or nullptr. Names are split into words at everything but letters and
// digits, and before capitals: "wait_input", "DataLoad".
const Kind* kind_of(std::string_view phase);

}  // namespace amdahl::profile
