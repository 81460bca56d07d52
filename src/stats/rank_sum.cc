#include "stats/rank_sum.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "stats/exact.h"
#include "stats/ranks.h"

namespace amdahl::stats {
namespace {

struct Member {
  double value = 0;
  bool of_x = false;
};

struct RankSum {
  std::vector<std::size_t> doubled;
  std::size_t of_x = 0;  // The sum of those of x.
};

RankSum rank_sum(std::span<const double> x, std::span<const double> y) {
  std::vector<Member> all;
  all.reserve(x.size() + y.size());
  for (const double value : x) all.push_back({value, true});
  for (const double value : y) all.push_back({value, false});
  std::ranges::sort(all, {}, &Member::value);
  std::vector<double> rising;
  for (const Member& member : all) rising.push_back(member.value);
  RankSum ranked{doubled_ranks(rising)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].of_x) ranked.of_x += ranked.doubled[i];
  }
  return ranked;
}

}  // namespace

double rank_sum_less(std::span<const double> x, std::span<const double> y) {
  if (x.empty() || y.empty()) return 1;
  const RankSum ranked = rank_sum(x, y);
  const std::size_t sums = ranked.of_x + 1;
  // How many ways to choose k of the ranks so far with each sum, as a share of all ways in the end.
  std::vector<std::vector<double>> ways(x.size() + 1, std::vector<double>(sums));
  ways[0][0] = 1;
  std::size_t seen = 0;
  for (const std::size_t r : ranked.doubled) {
    ++seen;
    for (std::size_t k = std::min(seen, x.size()); k > 0; --k) {
      for (std::size_t s = sums; s-- > r;) ways[k][s] += ways[k - 1][s - r];
    }
  }
  const double below = std::accumulate(ways.back().begin(), ways.back().end(), 0.0);
  double all = 1;  // x.size() of all.
  for (std::size_t k = 1; k <= x.size(); ++k) {
    all *= static_cast<double>(y.size() + k) / static_cast<double>(k);
  }
  return std::min(1.0, below / all);
}

}  // namespace amdahl::stats
