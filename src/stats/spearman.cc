#include "stats/spearman.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "stats/estimate.h"
#include "stats/exact.h"

namespace amdahl::stats {
namespace {

// Ranks from 1, less their mean. Whole or half numbers, so that all sums over them are exact.
std::vector<double> centred_ranks(std::span<const double> x) {
  std::vector<double> sorted(x.begin(), x.end());
  std::ranges::sort(sorted);
  const double middle = 0.5 * (static_cast<double>(x.size()) + 1);
  std::vector<double> ranks;
  for (const double value : x) {
    const auto same = std::ranges::equal_range(sorted, value);
    const auto below = static_cast<double>(same.begin() - sorted.begin());
    ranks.push_back(below + 0.5 * (static_cast<double>(same.size()) + 1) - middle);
  }
  return ranks;
}

double product(std::span<const double> x, std::span<const double> y) {
  std::vector<double> products(x.begin(), x.end());
  for (std::size_t i = 0; i < products.size(); ++i) products[i] *= y[i];
  return sum(products);
}

}  // namespace

std::optional<double> spearman(std::span<const double> x, std::span<const double> y) {
  CHECK(x.size() == y.size());
  const std::vector<double> a = centred_ranks(x);
  const std::vector<double> b = centred_ranks(y);
  const double spread = product(a, a) * product(b, b);
  if (spread == 0) return std::nullopt;
  return product(a, b) / std::sqrt(spread);
}

}  // namespace amdahl::stats
