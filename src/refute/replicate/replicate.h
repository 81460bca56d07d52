// replicate.h: whether the win is there again in fresh pairs.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::replicate {

// Agrees only if fresh pairs show half the claim and an E of 4 by themselves.
Ruling rule(std::span<const double> fresh, double log_e, double theta);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::replicate
