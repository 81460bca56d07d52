// aa.h: whether the harness itself favours one arm.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::aa {

// `same` are log-ratios of A against A, which ought to lie around 0.
Ruling rule(std::span<const double> same, double theta);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::aa
