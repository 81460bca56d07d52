// outlier.h: whether a few lucky pairs carry the win.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::outlier {

// At least half of the win must remain without the best tenth of the pairs.
Ruling rule(std::span<const double> d);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::outlier
