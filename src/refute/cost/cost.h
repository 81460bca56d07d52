// cost.h: whether the saving is paid for elsewhere.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::cost {

// `log_bill` is ln(bill A / bill B) per unit of work; the whole bill must fall by half the claim.
Ruling rule(std::span<const double> log_bill, double theta);

// The bill: accelerator-hours and CPU-hours at their prices, per unit of work.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::cost
