// replicate.h: whether the win repeats in fresh pairs.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::replicate {

// Agrees only if fresh pairs alone show at least half of the claim and E of at least 4.
Ruling rule(std::span<const double> fresh, double log_e, double theta);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::replicate
