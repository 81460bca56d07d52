// failures.h: whether the variant fails more often than the job always did.
#pragma once

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::failures {

// `soft` is the p-value at which it doubts; 0.01 is decisive.
Ruling rule(int failed, int attempts, double usual_rate = 0.04, double soft = 0.15);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::failures
