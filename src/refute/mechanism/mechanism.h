// mechanism.h: whether the time is saved where the hypothesis said it would be.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::mechanism {

// Time saved in the component and in all, of each pair: half must lie in the component; it doubts
// below a quarter.
Ruling rule(std::span<const double> saved_component, std::span<const double> saved_total);

model::Finding run(const Evidence& evidence);

// The hypothesis names a component and some arm reports a phase of that name.
bool applies(const Evidence& evidence);

}  // namespace amdahl::refute::mechanism
