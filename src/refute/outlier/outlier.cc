#include "refute/outlier/outlier.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "refute/facts.h"
#include "stats/estimate.h"

namespace amdahl::refute::outlier {
namespace {

constexpr std::size_t kAtLeast = 5;

std::size_t dropped(std::size_t n) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(0.1 * static_cast<double>(n))));
}

double without_best(std::span<const double> d) {
  std::vector<double> rest(d.begin(), d.end());
  std::ranges::sort(rest);
  rest.resize(rest.size() - dropped(d.size()));
  return stats::hodges_lehmann(rest);
}

double with_all(std::span<const double> d) {
  return std::max(stats::hodges_lehmann(d), stats::mean(d));
}

// Dropping the best of symmetric noise lowers any estimate as far as dropping the worst raises it:
// only what is beyond that is carried by a few.
double without_extremes(std::span<const double> d) {
  std::vector<double> rest(d.begin(), d.end());
  std::ranges::sort(rest);
  const auto few = static_cast<std::ptrdiff_t>(dropped(d.size()));
  rest.erase(rest.begin(), rest.begin() + std::min(few, std::ssize(rest) - few - 1));
  rest.resize(rest.size() - static_cast<std::size_t>(few));
  return stats::hodges_lehmann(rest);
}

}  // namespace

Ruling rule(std::span<const double> d) {
  if (d.size() < kAtLeast) return kAbstains;
  if (without_best(d) >= with_all(d) / 2) return kAgrees;
  return stats::median(d) <= 0 ? kVetoes : kDoubts;
}

model::Finding run(const Evidence& evidence) {
  const std::vector<double> d = log_ratios(evidence, pairs_for(evidence, "outlier"));
  if (d.size() < kAtLeast) {
    return finding(rule(d), too_few(d.size(), "pair", kAtLeast));
  }
  Ruling ruling = rule(d);
  if (ruling == kDoubts && without_extremes(d) >= with_all(d) / 2) ruling = kAgrees;
  return finding(
      ruling, fmt::format("without the best {} of {} the saving is {}; at least half of {} is "
                          "required (median {})",
                          dropped(d.size()), count(d.size(), "pair"), show_saving(without_best(d)),
                          show_saving(with_all(d)), show_saving(stats::median(d))));
}

}  // namespace amdahl::refute::outlier
