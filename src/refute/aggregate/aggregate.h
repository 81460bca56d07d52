// aggregate.h: whether rare slow runs cancel what typical runs save.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::aggregate {

// The mean saving must be at least half of the typical saving; otherwise slow outliers refute it.
Ruling rule(std::span<const double> d, double theta);

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::aggregate
