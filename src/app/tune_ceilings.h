// tune_ceilings.h: ceilings that were measured, before time is spent on ideas that lie below them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/ceilings.h"
#include "app/context.h"
#include "base/result.h"

namespace amdahl::app {

struct WeighOptions {
  std::string family;
  int pairs = 3;
  Say say;
  std::function<bool()> stopped;
  std::string spec_file{};  // Empty: the draft in the state folder.
};

// Causes that can be taken out of the job, that its profile shows, and on which alone at least
// `ideas` of its untested ideas act.
Result<std::vector<std::string>> causes_to_measure(Context& context, const std::string& family,
                                                   int ideas);

// An untested idea that acts on the cause alone is dropped if even without it less than the
// smallest gain that matters would be saved; the reason is in its verdict. If it claims more than
// the ceiling allows, it claims that. A ceiling that was not measured changes nothing.
Result<> weigh_by(Context& context, const Ceiling& ceiling, const WeighOptions& options);

// Measures these causes, and weighs by each.
Result<std::vector<Ceiling>> weigh_ideas(Context& context, const std::vector<std::string>& causes,
                                         const WeighOptions& options);

// "input: computed at most 1.62x, measured 1.41x (1.35 to 1.47, 4 pairs)".
std::string describe(const Ceiling& ceiling);

}  // namespace amdahl::app
