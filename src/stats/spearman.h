// spearman.h: Spearman's rank correlation.
#pragma once

#include <optional>
#include <span>

namespace amdahl::stats {

// -1 to 1; ties share their rank. Nothing if either is constant or there are fewer than two
// values. `x` and `y` must have the same length.
std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

}  // namespace amdahl::stats
