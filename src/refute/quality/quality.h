// quality.h: whether the variant wins by giving worse results.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::quality {

// `gain` is quality B - quality A, higher is better. It must be shown to be above `-margin`.
Ruling rule(std::span<const double> gain, double margin);

// Equal digests agree; different digests refute decisively unless quality metrics cover them. If A
// against A differs as well, digests prove nothing and only a quality metric can tell.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::quality
