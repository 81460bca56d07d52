// production.h: simulates a promoted change in production, watched by its canary.
#pragma once

#include <cstdint>

#include "model/canary.h"
#include "sim/noise.h"
#include "sim/truth.h"

namespace amdahl::sim {

// Runs the job in production until its canary decides, judging after every run that could change
// the answer. `promised` is in ln.
model::CanaryResult watch(const Truth& truth, const Noise& noise, double promised,
                          std::uint64_t seed);

}  // namespace amdahl::sim
