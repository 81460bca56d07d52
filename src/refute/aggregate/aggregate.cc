#include "refute/aggregate/aggregate.h"

#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/tests.h"

namespace amdahl::refute::aggregate {
namespace {

constexpr std::size_t kAtLeast = 8;

double mean_saving(std::span<const double> d) {
  std::vector<double> costs(d.begin(), d.end());
  for (double& value : costs) value = std::exp(-value);
  return 1 - stats::mean(costs);
}

struct Tails {  // Pairs beyond four deviations from the median.
  int slow = 0;
  int fast = 0;
};

Tails tails(std::span<const double> d) {
  const double centre = stats::median(d);
  const double reach = 4 * stats::mad(d);
  Tails tails;
  for (const double value : d) {
    tails.slow += value < centre - reach ? 1 : 0;
    tails.fast += value > centre + reach ? 1 : 0;
  }
  return tails;
}

}  // namespace

Ruling rule(std::span<const double> d, double theta) {
  if (d.size() < kAtLeast) return kAbstains;
  if (mean_saving(d) >= 0.5 * (1 - std::exp(-theta))) return kAgrees;
  const Tails far = tails(d);
  if (far.slow < 2 || far.slow <= far.fast) return kAbstains;
  return stats::binomial_tail(far.slow, far.slow + far.fast) <= 0.01 ? kVetoes : kDoubts;
}

model::Finding run(const Evidence& evidence) {
  const double theta = claimed(evidence);
  const std::vector<double> d = log_ratios(evidence, pairs_for(evidence, "aggregate"));
  Ruling ruling = rule(d, theta);
  if (d.size() < kAtLeast) {
    return finding(ruling, too_few(d.size(), "pair", kAtLeast));
  }
  const Tails far = tails(d);
  if (ruling == kDoubts && had_pairs(evidence, "aggregate") &&
      stats::binomial_tail(far.slow, far.slow + far.fast) > 0.15) {
    ruling = kAbstains;
  }
  return finding(
      ruling, fmt::format("the mean saving over {} is {}; at least half of the typical {} is "
                          "required; far from the median: {} slower, {} faster",
                          count(d.size(), "pair"), show_percent(mean_saving(d)), show_saving(theta),
                          far.slow, far.fast));
}

}  // namespace amdahl::refute::aggregate
