// work.h: whether the variant wins by doing less.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::work {

// `log_work` is ln(work B / work A); more than `tolerance` less is decisive.
Ruling rule(std::span<const double> log_work, double tolerance = 0.005);

model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::work
