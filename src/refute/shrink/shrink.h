// shrink.h: whether the win is still worth having when corrected for selection.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::shrink {

Ruling rule(std::span<const double> d, double least = 0.01, double tau = 0.10);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::shrink
