// tests.h: classical tests of counts and means, for the checks of a claim.
#pragma once

#include <span>

namespace amdahl::stats {

// P(at least k of n succeed) when each does with chance p.
double binomial_tail(int k, int n, double p = 0.5);

// Two-sided p-value of k heads in n throws of a fair coin.
double binomial_two_sided_half(int k, int n);

// P(T > t) for Student's t with so many degrees of freedom.
double student_t_tail(double t, double degrees);

struct MeanDeviation {
  double mean = 0;
  double deviation = 0;  // Of the sample, n - 1.
};
MeanDeviation mean_deviation(std::span<const double> x);  // At least two values.

// Where the mean lies at this confidence, by Student's t. For a number of values that was fixed
// beforehand: a peek makes it too narrow. At least two values.
struct MeanInterval {
  double mean = 0;
  double lower = 0;
  double upper = 0;
};
MeanInterval mean_interval(std::span<const double> x, double confidence = 0.95);

// One-sided t tests: p-values of "the mean is above (below) the limit". At least two values.
double p_mean_above(std::span<const double> x, double limit);
double p_mean_below(std::span<const double> x, double limit);

// Two one-sided tests: the mean is shown to lie within the limits when both are small.
struct Equivalence {
  double p_above_low = 1;
  double p_below_high = 1;
};
Equivalence equivalence(std::span<const double> x, double low, double high);

}  // namespace amdahl::stats
