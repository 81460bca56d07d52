// oracle.h: what must be so when a story has ended, whatever was in it.
#pragma once

#include "base/result.h"
#include "play.h"
#include "scenario.h"
#include "world.h"

namespace amdahl::adversary {

// Adds endings and violations to the story. `settled`: the loop came to rest by itself.
// `flipped`: a person made the spec wrong on the way.
Result<> judge(const Scenario& scenario, World& world, bool settled, bool flipped, Story& story);

}  // namespace amdahl::adversary
