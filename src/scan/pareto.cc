#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "scan/report.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kMostPoints = 64;

// Close together where the curve bends: at the largest few.
std::vector<std::size_t> counts_to_draw(std::size_t n) {
  std::set<std::size_t> counts;
  const auto add = [&](double share) {
    const double count = std::ceil(share * static_cast<double>(n) - 1e-9);
    counts.insert(std::clamp<std::size_t>(static_cast<std::size_t>(count), 1, n));
  };
  for (const double top : Pareto::kTops) add(top);
  for (int i = 0; i <= 40; ++i) add(std::pow(10.0, -4 + i / 10.0));
  for (int i = 3; i < 20; ++i) add(i / 20.0);
  return {counts.begin(), counts.end()};
}

}  // namespace

Pareto pareto_of(std::vector<double>& values, std::size_t n) {
  Pareto pareto;
  n = std::max(n, values.size());
  pareto.n = n;
  pareto.total = std::accumulate(values.begin(), values.end(), 0.0);
  if (values.empty() || !(pareto.total > 0)) return pareto;

  // From the largest count down each selection leaves its largest in front, where the next one
  // looks: linear in all, where sorting is not.
  const std::vector<std::size_t> counts = counts_to_draw(n);
  std::size_t end = values.size();
  for (auto count = counts.rbegin(); count != counts.rend(); ++count) {
    const auto first = values.begin();
    if (*count < end) {
      std::nth_element(first, first + static_cast<std::ptrdiff_t>(*count) - 1,
                       first + static_cast<std::ptrdiff_t>(end), std::greater<>{});
      end = *count;
    }
  }
  pareto.points.push_back({});
  double held = 0;
  std::size_t from = 0;
  for (const std::size_t drawn : counts) {
    const std::size_t count = std::min(drawn, values.size());
    held = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                           values.begin() + static_cast<std::ptrdiff_t>(count), held);
    from = count;
    pareto.points.push_back({.items = static_cast<double>(drawn) / static_cast<double>(n),
                             .share = std::min(1.0, held / pareto.total)});
    for (std::size_t i = 0; i < Pareto::kTops.size(); ++i) {
      const double top = std::ceil(Pareto::kTops[i] * static_cast<double>(n) - 1e-9);
      if (static_cast<double>(drawn) == std::max(1.0, top)) {
        pareto.top[i] = pareto.points.back().share;
      }
    }
  }
  pareto.points.back().share = 1;
  static_assert(1 + 5 + 41 + 17 <= kMostPoints);
  return pareto;
}

}  // namespace amdahl::scan
