#include "refute/replicate/replicate.h"

#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "refute/facts.h"
#include "stats/eprocess.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::replicate {
namespace {

constexpr std::size_t kAtLeast = 5;
constexpr double kEnoughE = 4;

}  // namespace

Ruling rule(std::span<const double> fresh, double log_e, double theta) {
  if (fresh.size() < kAtLeast) return kAbstains;
  const Ruling doubt = by_p(stats::wilcoxon_less(fresh, theta / 2));
  if (doubt != kAbstains) return doubt;
  const bool large = stats::hodges_lehmann(fresh) >= theta / 2;
  return large && log_e >= std::log(kEnoughE) ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  const double theta = claimed(evidence);
  const std::vector<double> fresh = log_ratios(evidence, fresh_pairs_for(evidence, "replicate"));
  const double log_e = stats::log_e(fresh, {.sigma = evidence.experiment.sigma});
  std::string because = explain_three(fresh, theta, "fresh pair", kAtLeast);
  if (fresh.size() >= kAtLeast) {
    because += fmt::format("; E {}, {} is required", show_e(log_e), kEnoughE);
  }
  return finding(rule(fresh, log_e, theta), because);
}

}  // namespace amdahl::refute::replicate
