// cost.h: whether the total cost falls, CPU included.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::cost {

// `log_bill` is ln(cost A / cost B) per unit of work; it must fall by at least half of the claim.
Ruling rule(std::span<const double> log_bill, double theta);

// `log_seconds` is ln(accelerator-seconds A / B) by our clock; `theta` is the saving by the job's
// own metric. At least half of it must show.
Ruling clock_rule(std::span<const double> log_seconds, double theta);

// Total cost: accelerator-hours and CPU-hours at their prices, per unit of work. A claim about a
// number that the job reports is also checked against our own clock.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::cost
