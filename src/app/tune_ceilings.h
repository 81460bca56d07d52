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
};

// Causes that can be taken out of the job, that its profile shows, and on which alone at least
// `ideas` of its untested ideas act.
Result<std::vector<std::string>> causes_to_measure(Context& context, const std::string& family,
                                                   int ideas);

// Measures these causes. An untested idea that acts on nothing else is dropped if even without the
// cause less than the smallest gain that matters would be saved; if it claims more than the ceiling
// allows, it claims that. The reason is in its verdict.
Result<std::vector<Ceiling>> weigh_ideas(Context& context, const std::vector<std::string>& causes,
                                         const WeighOptions& options);

// "input: computed at most 1.62x, measured 1.41x (1.35 to 1.47, 4 pairs)".
std::string describe(const Ceiling& ceiling);

}  // namespace amdahl::app
