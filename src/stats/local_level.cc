#include "stats/local_level.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "stats/estimate.h"

namespace amdahl::stats {
namespace {

// Variance of the drift's step over that of the noise. No series is taken to be without drift:
// small ones are easily missed, and would make intervals too narrow.
constexpr auto kRatios = std::to_array<double>({1e-3, 0.01, 0.03, 0.1, 0.3, 1});
constexpr double kLeastVariance = 1e-12;
constexpr double kRidge = 1e-6;  // Only so that effects which always come together are solvable.
constexpr std::size_t kLeastFree = 4;
constexpr std::size_t kNeighbours = 7;

// A symmetric matrix by rows, and what Cholesky's method makes of it.
struct Square {
  std::size_t n = 0;
  std::vector<double> at_{};

  explicit Square(std::size_t size) : n{size}, at_(size * size) {}
  double& at(std::size_t i, std::size_t j) { return at_[i * n + j]; }
  double at(std::size_t i, std::size_t j) const { return at_[i * n + j]; }
};

// The lower factor; false if the matrix is not positive definite.
bool factorise(Square& a) {
  for (std::size_t j = 0; j < a.n; ++j) {
    for (std::size_t i = j; i < a.n; ++i) {
      double rest = a.at(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= a.at(i, k) * a.at(j, k);
      if (i == j && !(rest > 0)) return false;
      a.at(i, j) = i == j ? std::sqrt(rest) : rest / a.at(j, j);
    }
  }
  return true;
}

std::vector<double> solve(const Square& factor, std::vector<double> b) {
  for (std::size_t i = 0; i < factor.n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= factor.at(i, k) * b[k];
    b[i] /= factor.at(i, i);
  }
  for (std::size_t i = factor.n; i-- > 0;) {
    for (std::size_t k = i + 1; k < factor.n; ++k) b[i] -= factor.at(k, i) * b[k];
    b[i] /= factor.at(i, i);
  }
  return b;
}

// The fit at one ratio.
struct Fit {
  double log_likelihood = 0;
  double variance = 0;  // Of the noise.
  std::vector<double> means{};
  std::vector<double> covariance{};
};

// What the filter leaves of y, of a constant and of each effect is white noise of one variance:
// least squares are then best. Columns: the constant, the effects, y.
struct Whitened {
  Square products;
  double log_f = 0;
};

Whitened whiten(std::span<const double> y, std::span<const std::vector<double>> x, double ratio) {
  const std::size_t columns = x.front().size() + 2;
  Whitened white{Square(columns)};
  std::vector<double> level(columns);
  std::vector<double> left(columns);
  double p = 0;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const double f = p + 1;
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = c == 0 ? 1 : c + 1 == columns ? y[t] : x[t][c - 1];
      left[c] = value - level[c];
      level[c] += p / f * left[c];
    }
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = 0; j <= i; ++j) white.products.at(i, j) += left[i] * left[j] / f;
    }
    white.log_f += std::log(f);
    p = p / f + ratio;
  }
  return white;
}

std::optional<Fit> fit(std::span<const double> y, std::span<const std::vector<double>> x,
                       double ratio) {
  const std::size_t effects = x.front().size();
  const std::size_t n = effects + 1;
  const Whitened white = whiten(y, x, ratio);
  Square factor(n);
  std::vector<double> right(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) factor.at(i, j) = white.products.at(i, j);
    if (i > 0) factor.at(i, i) += kRidge;
    right[i] = white.products.at(n, i);
  }
  if (!factorise(factor)) return std::nullopt;
  const std::vector<double> solved = solve(factor, right);
  double squares = white.products.at(n, n);
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares -= solved[i] * right[i];
    log_determinant += 2 * std::log(factor.at(i, i));
  }
  const auto free = static_cast<double>(y.size() - n);
  Fit result;
  result.variance = squares / free;
  if (!(result.variance > kLeastVariance)) return std::nullopt;
  result.log_likelihood = -0.5 * (free * std::log(result.variance) + white.log_f + log_determinant);
  result.means.assign(solved.begin() + 1, solved.end());
  for (std::size_t k = 1; k < n; ++k) {
    std::vector<double> unit(n);
    unit[k] = result.variance;
    const std::vector<double> row = solve(factor, std::move(unit));
    result.covariance.insert(result.covariance.end(), row.begin() + 1, row.end());
  }
  return result;
}

}  // namespace

std::optional<Effects> local_level_effects(std::span<const double> y,
                                           std::span<const std::vector<double>> x) {
  CHECK(y.size() == x.size());
  if (y.empty() || x.front().empty() || y.size() < x.front().size() + kLeastFree) {
    return std::nullopt;
  }
  const std::size_t n = x.front().size();
  std::vector<Fit> fits;
  std::vector<double> ratios;
  for (const double ratio : kRatios) {
    auto one = fit(y, x, ratio);
    if (!one) continue;
    fits.push_back(*std::move(one));
    ratios.push_back(ratio);
  }
  if (fits.empty()) return std::nullopt;
  const double best = std::ranges::max_element(fits, {}, &Fit::log_likelihood)->log_likelihood;
  double weights = 0;
  for (const Fit& one : fits) weights += std::exp(one.log_likelihood - best);
  Effects all{.means = std::vector<double>(n), .covariance = std::vector<double>(n * n)};
  double noise = 0;
  double drift = 0;
  for (std::size_t f = 0; f < fits.size(); ++f) {
    const double weight = std::exp(fits[f].log_likelihood - best) / weights;
    noise += weight * fits[f].variance;
    drift += weight * fits[f].variance * ratios[f];
    for (std::size_t i = 0; i < n; ++i) {
      all.means[i] += weight * fits[f].means[i];
      for (std::size_t j = 0; j < n; ++j) {
        all.covariance[i * n + j] +=
            weight * (fits[f].covariance[i * n + j] + fits[f].means[i] * fits[f].means[j]);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      all.covariance[i * n + j] -= all.means[i] * all.means[j];
    }
  }
  all.noise = std::sqrt(noise);
  all.drift = std::sqrt(drift);
  return all;
}

EffectSum sum_of(const Effects& effects, const std::vector<double>& chosen) {
  const std::size_t n = effects.means.size();
  CHECK(chosen.size() == n);
  EffectSum sum;
  double variance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum.mean += chosen[i] * effects.means[i];
    for (std::size_t j = 0; j < n; ++j) {
      variance += chosen[i] * chosen[j] * effects.covariance[i * n + j];
    }
  }
  sum.deviation = std::sqrt(std::max(0.0, variance));
  return sum;
}

std::vector<double> winsorised(std::span<const double> y, double deviations) {
  if (y.size() < kNeighbours) return {y.begin(), y.end()};
  std::vector<double> medians;
  std::vector<double> left;
  for (std::size_t t = 0; t < y.size(); ++t) {
    const std::size_t first =
        std::min(t < kNeighbours / 2 ? 0 : t - kNeighbours / 2, y.size() - kNeighbours);
    medians.push_back(median(y.subspan(first, kNeighbours)));
    left.push_back(y[t] - medians.back());
  }
  const double far = deviations * mad(left);
  std::vector<double> moved;
  for (std::size_t t = 0; t < y.size(); ++t) {
    moved.push_back(medians[t] + std::clamp(left[t], -far, far));
  }
  return moved;
}

}  // namespace amdahl::stats
