#include "refute/aa/aa.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/compare.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/rank_sum.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::aa {
namespace {

constexpr std::size_t kAtLeast = 6;
constexpr double kApart = 0.10;

// Those bought for this check are A/A pairs too (see target_of()), and may be in both lists.
std::vector<double> same_ratios(const Evidence& evidence) {
  const Pairs bought = bought_for(evidence, "aa");
  std::vector<double> same = log_ratios(evidence, bought);
  for (const model::PairFact& pair : evidence.same) {
    const auto is_this = [&](const model::PairFact* other) {
      return !pair.reservation.empty() && other->reservation == pair.reservation;
    };
    if (std::ranges::any_of(bought, is_this)) continue;
    if (const auto d = compare::log_ratio(pair, *evidence.spec)) same.push_back(*d);
  }
  return same;
}

}  // namespace

Ruling rule(std::span<const double> same, double theta) {
  if (same.size() < kAtLeast) return kAbstains;
  const double bias = stats::hodges_lehmann(same);
  const double p = stats::wilcoxon_two_sided(same);
  if (p <= 0.05 && bias >= theta / 4) return bias >= theta / 2 && p <= 0.02 ? kVetoes : kDoubts;
  return std::abs(bias) < theta / 2 ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  const double theta = claimed(evidence);
  const std::vector<double> same = same_ratios(evidence);
  Ruling ruling = rule(same, theta);
  // Few noisy A/A pairs miss a bias of the claim's size by chance: they must lie below the claim's.
  const double p = stats::rank_sum_less(same, log_ratios(evidence, pairs_for(evidence, "")));
  if (ruling == kAgrees && p > kApart) ruling = kAbstains;
  if (same.size() < kAtLeast) {
    return finding(ruling, fmt::format("{} counted, at least {} are needed",
                                       count(same.size(), "A/A pair"), kAtLeast));
  }
  return finding(ruling,
                 fmt::format("A against A shows a saving of {} over {} (p {} for a bias), "
                             "where {} is claimed (p {} for as much in A against A)",
                             show_saving(stats::hodges_lehmann(same)), count(same.size(), "pair"),
                             show_number(stats::wilcoxon_two_sided(same)), show_saving(theta),
                             show_number(p)));
}

}  // namespace amdahl::refute::aa
