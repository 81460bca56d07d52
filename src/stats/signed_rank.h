// signed_rank.h: the exact Wilcoxon signed-rank test.
#pragma once

#include <span>

namespace amdahl::stats {

// P(rank sum of the positive values >= the observed one) if signs are random, given the
// magnitudes. Zeros are dropped, ties (==) share their rank; 1 if nothing is left. Exact at any
// count; cubic: 1 ms at 150.
double wilcoxon_greater(std::span<const double> x);

// The p-value of "the location of x is below `location`".
double wilcoxon_less(std::span<const double> x, double location);

// The p-value of "the location of x is not 0", on either side.
double wilcoxon_two_sided(std::span<const double> x);

}  // namespace amdahl::stats
