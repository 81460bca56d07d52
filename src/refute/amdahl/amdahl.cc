#include "refute/amdahl/amdahl.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "refute/facts.h"

namespace amdahl::refute::amdahl {

Ruling rule(double lower, double theta, double share) {
  const double bound = -std::log1p(-share);
  if (lower > 1.1 * bound + 0.01) return kVetoes;
  return theta <= bound + 0.02 ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  if (!evidence.touched_share) {
    return finding(kAbstains, "no profile says how much of the cost the change can touch");
  }
  const double share = std::clamp(*evidence.touched_share, 0.0, 1.0);
  const double lower = evidence.comparison.lower;
  const std::string least =
      std::isfinite(lower) ? fmt::format(", at least {} at 95 %", show_saving(lower)) : "";
  return finding(rule(lower, claimed(evidence), share),
                 fmt::format("the change can touch {} of the cost and is said to save {}{}",
                             show_percent(share), show_saving(claimed(evidence)), least));
}

}  // namespace amdahl::refute::amdahl
