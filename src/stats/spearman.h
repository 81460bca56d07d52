// spearman.h: whether two quantities rise together, by rank.
#pragma once

#include <optional>
#include <span>

namespace amdahl::stats {

// Spearman's rank correlation, -1 to 1; ties share their rank. Nothing if either is constant or
// there are fewer than two; `x` and `y` are of one length.
std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

}  // namespace amdahl::stats
