// estimate.h: how large an effect is, with anytime bounds, from log-ratios of pairs.
#pragma once

#include <span>

namespace amdahl::stats {

// Compensated, so that the answer does not depend on the order beyond the last bit.
double sum(std::span<const double> x);
double mean(std::span<const double> x);  // Of at least one value, as all below.
double median(std::span<const double> x);

// Median of all (x_i + x_j)/2 with i <= j: the typical effect, unmoved by outliers and nearly as
// sharp as the mean. Exact; linear memory.
double hodges_lehmann(std::span<const double> x);

// 1.4826 times the median distance from the median: the standard deviation, if Gaussian.
double mad(std::span<const double> x);

struct Bounds {
  double lower = 0;  // -inf if these pairs exclude nothing below.
  double upper = 0;
};

// The effects that the e-process does not exclude at this level on each side. Valid at every
// peek; searched to 4.0 (a factor of 55) from the estimate.
Bounds anytime_bounds(std::span<const double> d, double sigma, double alpha = 0.05);

// The estimate pulled towards 0 by what its noise explains: what to expect of a winner that was
// selected for being large. `tau` is the spread of true effects.
double shrink(std::span<const double> d, double tau = 0.10);

// Noise of one pair from A/A log-ratios: 1.4826 median|d| within [0.003, 0.30]; 0.05 with fewer
// than six of them.
double sigma_of_same(std::span<const double> same);

// The smallest effect that matters: half of what is claimed, but nothing that noise drowns.
double futility_margin(double claim, double sigma, double floor = 0.01);

}  // namespace amdahl::stats
