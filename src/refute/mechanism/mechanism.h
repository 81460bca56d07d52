// mechanism.h: whether the time is saved in the component that the hypothesis names.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::mechanism {

// Time saved per pair, in the component and in total: half must be in the component; below a
// quarter it refutes softly.
Ruling rule(std::span<const double> saved_component, std::span<const double> saved_total);

model::Finding run(const Evidence& evidence);

// The hypothesis names a component and some arm reports a phase of that name.
bool applies(const Evidence& evidence);

}  // namespace amdahl::refute::mechanism
