// ran_with.h: inputs of a family's arms besides its spec: pinned environment and code in its repo.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "model/spec.h"

namespace amdahl::app {

struct RanWith {
  std::string environment;  // Digest of the pinned one; empty: none.
  std::string source;       // launch::source_of(), at most some seconds old.
};

// A pin is valid for one spec of the family: another spec is another job.
RanWith ran_with(Context& context, const std::string& family, const model::Spec& spec);

// Pins the current environment if none is pinned for the spec, or with `anew`. Returns the names
// of variables in which the pinned one differs from the current one, or with `anew` from the
// previous one.
Result<std::vector<std::string>> pin_environment(Context& context, const std::string& family,
                                                 const model::Spec& spec, bool anew);

// Identifies what was measured, as for A/A pairs: spec, baseline and what they ran with.
std::string setup_of(const model::Spec& spec, const model::Plan& baseline, const RanWith& with);

}  // namespace amdahl::app
