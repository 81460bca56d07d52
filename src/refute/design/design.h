// design.h: whether the coin really decided which arm ran second.
#pragma once

#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::design {

// ln E against a fair coin, its bias taken as uniform: valid at every look.
double log_e_unfair(int seconds, int pairs);

// Decisive if fewer than 95 % ran as assigned, or at E >= 1000 that the coin was not fair. Abstains
// at p < 0.001: a fair coin does that too, now and then, and more pairs tell.
Ruling rule(const std::vector<bool>& assigned, const std::vector<bool>& executed);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::design
