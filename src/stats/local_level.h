// local_level.h: effects on a series whose level drifts.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace amdahl::stats {

// Effects of several regressors, jointly normal.
struct Effects {
  std::vector<double> means{};
  std::vector<double> covariance{};  // By rows.
  double noise = 0;                  // Standard deviation of one value around its level,
  double drift = 0;                  // and of the level's step from one value to the next.
};

// y[t] = level[t] + sum over k of x[t][k] * effect[k] + noise, where the level is a random walk
// (a local-level model; Harvey 1989, section 2.3). The ratio of drift to noise is not fixed: fits
// over a grid of ratios are averaged, weighted by their restricted likelihood, so that intervals
// include what is not known of the drift. Every row of `x` has the same size. Effects that the
// data cannot tell apart have a large variance, and their sum a small one. Nothing with fewer than
// four values more than effects, or if the values do not differ.
std::optional<Effects> local_level_effects(std::span<const double> y,
                                           std::span<const std::vector<double>> x);

// The sum of the chosen effects. Student's t is near enough to the normal here: with the least
// number of values the interval is wider than it must be, because of the average over drifts.
struct EffectSum {
  double mean = 0;
  double deviation = 0;
};
EffectSum sum_of(const Effects& effects, const std::vector<double>& chosen);

// Values that are far from the median of their neighbours are moved to `deviations` robust standard
// deviations from it. A straggler is noise of the machine: one of them must not decide.
std::vector<double> winsorised(std::span<const double> y, double deviations);

}  // namespace amdahl::stats
