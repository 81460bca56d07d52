#include "stats/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/exact.h"
#include "stats/ranks.h"

namespace amdahl::stats {
namespace {

struct SignedRanks {
  std::vector<std::size_t> doubled;
  std::size_t positive = 0;  // The sum of those of positive values.
};

SignedRanks signed_ranks(std::span<const double> x) {
  std::vector<double> values;
  values.reserve(x.size());
  for (const double value : x) {
    if (value != 0) values.push_back(value);
  }
  std::ranges::sort(values, {}, [](double value) { return std::abs(value); });
  std::vector<double> rising;
  for (const double value : values) rising.push_back(std::abs(value));
  SignedRanks ranked{doubled_ranks(rising)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0) ranked.positive += ranked.doubled[i];
  }
  return ranked;
}

}  // namespace

double wilcoxon_greater(std::span<const double> x) {
  const SignedRanks ranked = signed_ranks(x);
  const auto& ranks = ranked.doubled;
  if (ranks.empty()) return 1;
  const std::size_t most = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<double> chance(most + 1);  // Of each sum, after the ranks so far.
  chance[0] = 1;
  std::size_t reached = 0;
  for (const std::size_t r : ranks) {
    reached += r;
    for (std::size_t s = reached; s >= r; --s) chance[s] = 0.5 * (chance[s] + chance[s - r]);
    for (std::size_t s = 0; s < r; ++s) chance[s] *= 0.5;
  }
  const auto tail = chance.begin() + static_cast<std::ptrdiff_t>(ranked.positive);
  return std::min(1.0, std::accumulate(tail, chance.end(), 0.0));
}

double wilcoxon_less(std::span<const double> x, double location) {
  std::vector<double> below(x.begin(), x.end());
  for (double& value : below) value = location - value;
  return wilcoxon_greater(below);
}

double wilcoxon_two_sided(std::span<const double> x) {
  return std::min(1.0, 2 * std::min(wilcoxon_greater(x), wilcoxon_less(x, 0)));
}

}  // namespace amdahl::stats
