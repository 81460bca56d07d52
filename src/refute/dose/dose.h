// dose.h: whether more of the change does more.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::dose {

// Effects must rise with the doses, by rank (Spearman's rho of 0.5); if they fall it doubts.
Ruling rule(std::span<const double> doses, std::span<const double> effects);

model::Finding run(const Evidence& evidence);

// A single dose has nothing to be compared with.
bool applies(const Evidence& evidence);

}  // namespace amdahl::refute::dose
