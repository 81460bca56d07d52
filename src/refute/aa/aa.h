// aa.h: whether the harness itself favours one arm, and whether the claim's pairs leave A as it is.
#pragma once

#include <optional>
#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::aa {

// `same` are log-ratios of A against A, which ought to lie around 0.
Ruling rule(std::span<const double> same, double theta);

// How much more A cost in the pairs of the claim than against itself, in ln. A variant that slows
// whatever runs after it makes A dear in both orders, and wins by that. Hosts wander, too, so of
// the A/A pairs from before and those bought after the claim the nearer ones count. Nothing if too
// few runs compare.
std::optional<double> baseline_dearer(const Evidence& evidence);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::aa
