// aa.h: whether the harness favours one arm, and whether the claim's pairs make A slower.
#pragma once

#include <optional>
#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::aa {

// `same` are log-ratios of A against A; they should be around 0.
Ruling rule(std::span<const double> same, double theta);

// How much more A costs in the claim's pairs than in A/A pairs, in ln. A variant that slows the run
// after it makes A expensive and wins by that. Hosts drift too, so the smaller difference counts:
// to the A/A pairs from before the claim, or to those run after it. Only the former count if A
// became expensive with the variant and stayed so: it may have spoiled something for good. Nothing
// if too few runs are comparable.
std::optional<double> baseline_dearer(const Evidence& evidence);

model::Finding run(const Evidence& evidence);

// Not if the variant may have spoiled for good what A uses: all later A/A pairs are as slow.
bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::aa
