// tests.h: classical tests of counts and means, for the checks of a claim.
#pragma once

#include <span>

namespace amdahl::stats {

// P(at least k of n successes) with success probability p.
double binomial_tail(int k, int n, double p = 0.5);

// Two-sided p-value of k heads in n tosses of a fair coin.
double binomial_two_sided_half(int k, int n);

// P(T > t) for Student's t with this many degrees of freedom.
double student_t_tail(double t, double degrees);

struct MeanDeviation {
  double mean = 0;
  double deviation = 0;  // Sample standard deviation (n - 1).
};
MeanDeviation mean_deviation(std::span<const double> x);  // Needs two values.

// Confidence interval of the mean by Student's t. Only for a sample size fixed beforehand; peeking
// makes it too narrow. Needs two values.
struct MeanInterval {
  double mean = 0;
  double lower = 0;
  double upper = 0;
};
MeanInterval mean_interval(std::span<const double> x, double confidence = 0.95);

// One-sided t-tests: p-values of "the mean is above (below) the limit". Need two values.
double p_mean_above(std::span<const double> x, double limit);
double p_mean_below(std::span<const double> x, double limit);

// Two one-sided tests (TOST): the mean lies within the limits if both p-values are small.
struct Equivalence {
  double p_above_low = 1;
  double p_below_high = 1;
};
Equivalence equivalence(std::span<const double> x, double low, double high);

}  // namespace amdahl::stats
