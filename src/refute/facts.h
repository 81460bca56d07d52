// facts.h: what several checks draw from the evidence.
#pragma once

#include <string_view>
#include <vector>

#include "refute/check.h"

namespace amdahl::refute {

using Pairs = std::vector<const model::PairFact*>;  // Into the evidence, which must outlive it.

// The pairs that count for this check: all coin-randomised ones that are not void, and those that
// were bought for it.
Pairs pairs_for(const Evidence& evidence, std::string_view check);

// Fresh pairs alone, and those that were bought for the check.
Pairs fresh_pairs_for(const Evidence& evidence, std::string_view check);

// Those that were bought for the check alone.
Pairs bought_for(const Evidence& evidence, std::string_view check);

// ln(cost A / cost B) by the spec's metric. `pairs` as from pairs_for(): none is void.
std::vector<double> log_ratios(const Evidence& evidence, const Pairs& pairs);

// The claimed win: the typical effect over all coin-randomised pairs, in ln.
double claimed(const Evidence& evidence);

// Whether any pair that counts says how much work both arms did.
bool reports_work(const Evidence& evidence);

}  // namespace amdahl::refute
