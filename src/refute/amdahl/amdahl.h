// amdahl.h: whether the win is larger than the share of the cost that the change can affect.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::amdahl {

// `lower` is the lower bound of the effect; at most `share` of the cost can vanish.
Ruling rule(double lower, double theta, double share);

// The exact p-value for pairs that save more than the share. With large noise it tells earlier than
// the anytime bound.
double chance_of_more(std::span<const double> d, double share);

// Beyond the rule it refutes softly at p = 0.10, so that more pairs are run.
model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::amdahl
