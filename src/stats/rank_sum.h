// rank_sum.h: the exact Wilcoxon rank-sum (Mann-Whitney) test.
#pragma once

#include <span>

namespace amdahl::stats {

// P(rank sum of x among x and y <= the observed one) if all choices of x's members are equally
// likely. Small if x tends to lie below y. Ties (==) share their rank; 1 if either is empty.
// Exact; quartic in the count: 1 ms at 40, 0.1 s at 150.
double rank_sum_less(std::span<const double> x, std::span<const double> y);

}  // namespace amdahl::stats
