// dose.h: whether a larger change has a larger effect.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::dose {

// Effects must rise with the knob's value (Spearman's rho of at least 0.5); if they fall, it
// refutes softly.
Ruling rule(std::span<const double> doses, std::span<const double> effects);

model::Finding run(const Evidence& evidence);

// A single value cannot be compared.
bool applies(const Evidence& evidence);

}  // namespace amdahl::refute::dose
