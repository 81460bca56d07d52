// quality.h: whether the variant wins by giving worse results.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::quality {

// `gain` is quality B - quality A, better upwards: not worse than `-margin` must be shown.
Ruling rule(std::span<const double> gain, double margin);

// Equal digests agree; different ones refute decisively unless quality metrics judge them. Where
// A against A differs as well the digests say nothing, and only a quality metric can tell.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::quality
