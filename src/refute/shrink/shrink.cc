#include "refute/shrink/shrink.h"

#include <vector>

#include <fmt/core.h>

#include "refute/facts.h"
#include "stats/estimate.h"

namespace amdahl::refute::shrink {
namespace {

constexpr std::size_t kAtLeast = 5;
constexpr double kWorthHaving = 0.01;

}  // namespace

Ruling rule(std::span<const double> d, double least, double tau) {
  if (d.size() < kAtLeast) return kAbstains;
  return stats::shrink(d, tau) >= least ? kAgrees : kDoubts;
}

model::Finding run(const Evidence& evidence) {
  const std::vector<double> d = log_ratios(evidence, pairs_for(evidence, "shrink"));
  const Ruling ruling = rule(d, kWorthHaving);
  if (d.size() < kAtLeast) {
    return finding(ruling, too_few(d.size(), "pair", kAtLeast));
  }
  return finding(ruling,
                 fmt::format("{} over {} shrinks to {} when corrected for selection; at least {} "
                             "is required",
                             show_saving(stats::hodges_lehmann(d)), count(d.size(), "pair"),
                             show_saving(stats::shrink(d)), show_saving(kWorthHaving)));
}

}  // namespace amdahl::refute::shrink
