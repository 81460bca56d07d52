#include "refute/amdahl/amdahl.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::amdahl {
namespace {

double bound_of(double share) { return -std::log1p(-share); }
double impossible_from(double share) { return 1.1 * bound_of(share) + 0.01; }

}  // namespace

Ruling rule(double lower, double theta, double share) {
  if (lower > impossible_from(share)) return kVetoes;
  return theta <= bound_of(share) + 0.02 ? kAgrees : kAbstains;
}

double chance_of_more(std::span<const double> d, double share) {
  std::vector<double> beyond(d.begin(), d.end());
  for (double& x : beyond) x -= impossible_from(share);
  return stats::wilcoxon_greater(beyond);
}

model::Finding run(const Evidence& evidence) {
  if (!evidence.touched_share) {
    return finding(kAbstains, "no profile shows what share of the cost the change can affect");
  }
  const double share = std::clamp(*evidence.touched_share, 0.0, 1.0);
  const double lower = evidence.comparison.lower;
  const std::string least =
      std::isfinite(lower) ? fmt::format(" (at least {} at 95 %)", show_saving(lower)) : "";
  const std::string says =
      fmt::format("the change can affect {} of the cost; the claimed saving is {}{}",
                  show_percent(share), show_saving(claimed(evidence)), least);
  const Ruling ruling = rule(lower, claimed(evidence), share);
  if (ruling != kAbstains) return finding(ruling, says);
  const std::vector<double> d = log_ratios(evidence, pairs_for(evidence, "amdahl"));
  const double p = chance_of_more(d, share);
  if (by_p(p) == kAbstains) return finding(kAbstains, says);
  return finding(kDoubts, fmt::format("{}: more than it can affect, over {} (by chance: {})", says,
                                      count(d.size(), "pair"), show_p(p)));
}

}  // namespace amdahl::refute::amdahl
