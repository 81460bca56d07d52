#include "stats/tests.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "stats/estimate.h"
#include "stats/exact.h"

namespace amdahl::stats {
namespace {

double log_choose(int n, int k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

// Lentz's method must not divide by 0.
double away_from_zero(double value) { return std::abs(value) > 1e-300 ? value : 1e-300; }

// The continued fraction of the incomplete beta function (Numerical Recipes, 6.4).
double beta_fraction(double a, double b, double x) {
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = 1 + even / away_from_zero(c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m));
    d = 1 / away_from_zero(1 + odd * d);
    c = 1 + odd / away_from_zero(c);
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return h;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double binomial_tail(int k, int n, double p) {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  std::vector<double> terms;
  for (int i = k; i <= n; ++i) {
    terms.push_back(std::exp(log_choose(n, i) + i * std::log(p) + (n - i) * std::log1p(-p)));
  }
  return std::min(1.0, sum(terms));
}

double binomial_two_sided_half(int k, int n) {
  return std::min(1.0, 2 * binomial_tail(std::max(k, n - k), n));
}

double student_t_tail(double t, double degrees) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double half = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t >= 0 ? half : 1 - half;
}

MeanDeviation mean_deviation(std::span<const double> x) {
  CHECK(x.size() >= 2);
  // Rounding must not give equal values a spread.
  if (std::ranges::all_of(x, [&](double value) { return value == x[0]; })) return {x[0], 0};
  const double centre = mean(x);
  std::vector<double> squares(x.begin(), x.end());
  for (double& value : squares) value = (value - centre) * (value - centre);
  return {centre, std::sqrt(sum(squares) / static_cast<double>(x.size() - 1))};
}

MeanInterval mean_interval(std::span<const double> x, double confidence) {
  const auto [centre, deviation] = mean_deviation(x);
  const auto count = static_cast<double>(x.size());
  double low = 0;
  double high = 1e6;
  while (high - low > 1e-9 * (1 + high)) {
    const double middle = (low + high) / 2;
    (student_t_tail(middle, count - 1) > (1 - confidence) / 2 ? low : high) = middle;
  }
  const double half = high * deviation / std::sqrt(count);
  return {centre, centre - half, centre + half};
}

double p_mean_above(std::span<const double> x, double limit) {
  const auto [centre, deviation] = mean_deviation(x);
  if (deviation == 0) return centre > limit ? 0 : 1;
  const auto count = static_cast<double>(x.size());
  return student_t_tail((centre - limit) / (deviation / std::sqrt(count)), count - 1);
}

double p_mean_below(std::span<const double> x, double limit) {
  std::vector<double> mirrored(x.begin(), x.end());
  for (double& value : mirrored) value = -value;
  return p_mean_above(mirrored, -limit);
}

Equivalence equivalence(std::span<const double> x, double low, double high) {
  return {p_mean_above(x, low), p_mean_below(x, high)};
}

}  // namespace amdahl::stats
