// amdahl.h: whether the win is larger than what the change can touch.
#pragma once

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::amdahl {

// `lower` bounds the effect from below; `share` of the cost is all that could vanish.
Ruling rule(double lower, double theta, double share);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::amdahl
