// cost.h: whether the saving is paid for elsewhere.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::cost {

// `log_bill` is ln(bill A / bill B) per unit of work; the whole bill must fall by half the claim.
Ruling rule(std::span<const double> log_bill, double theta);

// `log_seconds` is ln(accelerator-seconds A / B) as we measured them, where `theta` is what the job
// reports of itself: at least half of it must show.
Ruling clock_rule(std::span<const double> log_seconds, double theta);

// The bill: accelerator-hours and CPU-hours at their prices, per unit of work. Where the claim
// rests on a number that the job reports, that number is held against our own clock as well.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::cost
