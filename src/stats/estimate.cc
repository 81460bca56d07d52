#include "stats/estimate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "stats/eprocess.h"
#include "stats/exact.h"

namespace amdahl::stats {
namespace {

constexpr double kMadToSigma = 1.4826;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Doubles as integers of the same order, and back: bisection over them ends at a value that
// occurs, not near one.
std::int64_t to_key(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value + 0.0);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

double from_key(std::int64_t key) {
  return std::bit_cast<double>(key >= 0 ? key : std::numeric_limits<std::int64_t>::min() - key);
}

// How many of the averages (x_i + x_j)/2, i <= j, are at most `value`. `x` is sorted.
std::size_t count_at_most(std::span<const double> x, double value) {
  std::size_t count = 0;
  std::size_t end = x.size();  // Averages of x[i] with x[end] and beyond exceed the value.
  for (std::size_t i = 0; i < end; ++i) {
    while (end > i && 0.5 * (x[i] + x[end - 1]) > value) --end;
    count += end - i;
  }
  return count;
}

// The average of rank `rank`, counted from 1. `x` is sorted.
double walsh_average(std::span<const double> x, std::size_t rank) {
  std::int64_t low = to_key(x.front());
  std::int64_t high = to_key(x.back());
  while (low < high) {
    const std::int64_t middle = std::midpoint(low, high);
    if (count_at_most(x, from_key(middle)) >= rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return from_key(low);
}

// The supremum of the margins below the estimate that are excluded at this level.
double lower_bound(std::span<const double> d, double sigma, double alpha) {
  constexpr double kSpan = 4.0;
  constexpr int kBisections = 60;
  const double level = std::log(1 / alpha);
  const auto excluded = [&](double margin) {
    return log_e(d, {.sigma = sigma, .margin = margin, .side = Side::kAbove}) >= level;
  };
  // Even if every bet of every pair were won in full: with so few pairs there is no bound.
  if (static_cast<double>(d.size()) * std::log(1.97) < level) return -kInfinity;
  const double top = hodges_lehmann(d);
  if (excluded(top)) return top;
  const double step = sigma / 4;
  double low = top;
  for (int k = 1;; ++k) {
    if (k * step > kSpan) return -kInfinity;
    low = top - k * step;
    if (excluded(low)) break;
  }
  double high = low + step;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = 0.5 * (low + high);
    (excluded(middle) ? low : high) = middle;
  }
  return low;
}

std::vector<double> sorted(std::span<const double> x) {
  std::vector<double> copy(x.begin(), x.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double median_of_sorted(std::span<const double> x) {
  const std::size_t half = x.size() / 2;
  return x.size() % 2 == 1 ? x[half] : 0.5 * (x[half - 1] + x[half]);
}

double median_distance(std::span<const double> x, double from) {
  std::vector<double> distances(x.begin(), x.end());
  for (double& value : distances) value = std::abs(value - from);
  return median(distances);
}

}  // namespace

double sum(std::span<const double> x) {
  double total = 0;
  double lost = 0;  // Neumaier's: what rounding took from the total.
  for (const double value : x) {
    const double next = total + value;
    lost += std::abs(total) >= std::abs(value) ? (total - next) + value : (value - next) + total;
    total = next;
  }
  return total + lost;
}

double mean(std::span<const double> x) {
  CHECK(!x.empty());
  return sum(x) / static_cast<double>(x.size());
}

double median(std::span<const double> x) {
  CHECK(!x.empty());
  return median_of_sorted(sorted(x));
}

double hodges_lehmann(std::span<const double> x) {
  CHECK(!x.empty());
  const std::vector<double> in_order = sorted(x);
  const std::size_t averages = x.size() * (x.size() + 1) / 2;
  const double upper = walsh_average(in_order, averages / 2 + 1);
  if (averages % 2 == 1) return upper;
  return 0.5 * (walsh_average(in_order, averages / 2) + upper);
}

double mad(std::span<const double> x) { return kMadToSigma * median_distance(x, median(x)); }

Bounds anytime_bounds(std::span<const double> d, double sigma, double alpha) {
  std::vector<double> mirrored(d.begin(), d.end());
  for (double& value : mirrored) value = -value;
  return {lower_bound(d, sigma, alpha), -lower_bound(mirrored, sigma, alpha)};
}

double shrink(std::span<const double> d, double tau) {
  const double spread = std::max(mad(d), 1e-6);
  const double error = spread * std::sqrt(std::numbers::pi / 3 / static_cast<double>(d.size()));
  return hodges_lehmann(d) * tau * tau / (tau * tau + error * error);
}

double sigma_of_same(std::span<const double> same) {
  constexpr double kDefault = 0.05;
  constexpr double kLeast = 0.003;
  constexpr double kMost = 0.30;
  if (same.size() < 6) return kDefault;
  return std::clamp(kMadToSigma * median_distance(same, 0), kLeast, kMost);
}

double futility_margin(double claim, double sigma, double floor) {
  return std::max({floor, 0.5 * claim, 0.5 * sigma});
}

}  // namespace amdahl::stats
