// signed_rank.h: the exact Wilcoxon signed-rank test.
#pragma once

#include <span>

namespace amdahl::stats {

// P(rank sum of the positive values >= the observed one) if signs were coins, given the sizes.
// Zeros are dropped, ties share their rank; 1 when nothing is left. Exact, so no tables and no
// approximation at 5 pairs; cubic in the count, a millisecond at 150. Ties are found with ==.
double wilcoxon_greater(std::span<const double> x);

// The p-value of "the location of x is below `location`".
double wilcoxon_less(std::span<const double> x, double location);

// The p-value of "the location of x is not 0", on either side.
double wilcoxon_two_sided(std::span<const double> x);

}  // namespace amdahl::stats
