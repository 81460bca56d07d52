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

// Causes in the job's profile that can be removed from it, if at least `ideas` untested ideas act
// on that cause alone.
Result<std::vector<std::string>> causes_to_measure(Context& context, const std::string& family,
                                                   int ideas);

// Drops an untested idea that acts on the cause alone if removing the whole cause would save less
// than the smallest gain that matters; its verdict has the reason. A larger claim is lowered to the
// ceiling. A ceiling that was not measured changes nothing.
Result<> weigh_by(Context& context, const Ceiling& ceiling, const WeighOptions& options);

// Measures these causes and applies each ceiling.
Result<std::vector<Ceiling>> weigh_ideas(Context& context, const std::vector<std::string>& causes,
                                         const WeighOptions& options);

// "input: computed at most 1.62x, measured 1.41x (1.35 to 1.47, 4 pairs)".
std::string describe(const Ceiling& ceiling);

}  // namespace amdahl::app
