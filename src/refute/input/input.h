// input.h: whether the variant was given easier inputs.
#pragma once

#include <span>
#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::input {

// Agrees if both arms always read the same input. Otherwise the win must survive an adjustment by
// `beta` times the difference in size, ln(size A / size B).
Ruling rule(std::span<const double> d, std::span<const double> log_size,
            const std::vector<bool>& pinned, double theta, double beta = 1);

model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::input
