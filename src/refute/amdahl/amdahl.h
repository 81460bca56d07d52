// amdahl.h: whether the win is larger than what the change can touch.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::amdahl {

// `lower` bounds the effect from below; `share` of the cost is all that could vanish.
Ruling rule(double lower, double theta, double share);

// The exact p-value of pairs that save more than it can touch, which a bound that holds at any
// time takes long to tell where noise is large.
double chance_of_more(std::span<const double> d, double share);

// Besides the rule it doubts what the pairs say is more, at p 0.10, so that it gets more pairs.
model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::amdahl
