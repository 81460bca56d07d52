// estimate.h: effect sizes with anytime-valid bounds, from log-ratios of pairs.
#pragma once

#include <span>

namespace amdahl::stats {

// Compensated summation: the order matters only in the last bit.
double sum(std::span<const double> x);
double mean(std::span<const double> x);  // Needs at least one value, as do all below.
double median(std::span<const double> x);

// Median of all (x_i + x_j)/2 with i <= j: robust against outliers and nearly as efficient as the
// mean. Exact; linear memory.
double hodges_lehmann(std::span<const double> x);

// 1.4826 times the median absolute deviation: estimates a Gaussian standard deviation.
double mad(std::span<const double> x);

struct Bounds {
  double lower = 0;  // -inf if these pairs exclude nothing below.
  double upper = 0;
};

// The effects that the e-process does not exclude at this level on each side. Valid under peeking.
// The search stops at 4.0 (a factor of 55) from the estimate.
Bounds anytime_bounds(std::span<const double> d, double sigma, double alpha = 0.05);

// The estimate shrunk towards 0 according to its noise: corrects for selecting large winners.
// `tau` is the standard deviation of true effects.
double shrink(std::span<const double> d, double tau = 0.10);

// Noise of one pair from A/A log-ratios: 1.4826 median|d| within [0.003, 0.30]; 0.05 if there are
// fewer than six.
double sigma_of_same(std::span<const double> same);

// The smallest effect that matters: half the claim, but not below what the noise hides.
double futility_margin(double claim, double sigma, double floor = 0.01);

}  // namespace amdahl::stats
