// ran_with.h: what a family's arms run with besides its spec: a pinned environment, and the code in
// its repo.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "model/spec.h"

namespace amdahl::app {

struct RanWith {
  std::string environment;  // Digest of the pinned one; empty if none is.
  std::string source;       // As launch::source_of(), at most some seconds old.
};

// A pin holds for one spec of the family: another spec is another job.
RanWith ran_with(Context& context, const std::string& family, const model::Spec& spec);

// Pins the present environment if none is pinned for the spec, or with `anew`. Returns the names of
// variables in which the pinned one differs from the present one, or with `anew` from that before.
Result<std::vector<std::string>> pin_environment(Context& context, const std::string& family,
                                                 const model::Spec& spec, bool anew);

// Names what was measured, as A/A pairs do: spec, baseline and what they ran with.
std::string setup_of(const model::Spec& spec, const model::Plan& baseline, const RanWith& with);

}  // namespace amdahl::app
