// order.h: whether the variant is fast only because it ran second.
#pragma once

#include <span>
#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::order {

// Both halves, variant first and variant second, must show at least half of the claim.
Ruling rule(std::span<const double> d, const std::vector<bool>& second, double theta);

model::Finding run(const Evidence& evidence);

// What would help it to a ruling: pairs in which the variant runs second, or first.
struct Missing {
  bool variant_second = false;
  int pairs = 0;
};
Missing missing(const Evidence& evidence);

}  // namespace amdahl::refute::order
