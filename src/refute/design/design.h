// design.h: whether the coin really decided which arm ran second.
#pragma once

#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::design {

// Decisive if fewer than 95 % ran as assigned, or the coin was not fair (p < 0.001).
Ruling rule(const std::vector<bool>& assigned, const std::vector<bool>& executed);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::design
