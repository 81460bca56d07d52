#include "refute/rule.h"

#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute {

int severity(const Ruling& ruling) {
  return ruling.decisive ? 3 : 1 - static_cast<int>(ruling.vote);
}

Ruling by_p(double p) {
  if (p <= 0.01) return kVetoes;
  if (p <= 0.10) return kDoubts;
  return kAbstains;
}

Ruling three_rule(std::span<const double> x, double theta, std::size_t at_least) {
  if (x.size() < at_least) return kAbstains;
  if (stats::hodges_lehmann(x) >= theta / 2) return kAgrees;
  return by_p(stats::wilcoxon_less(x, theta / 2));
}

std::string explain_three(std::span<const double> x, double theta, std::string_view of_what,
                          std::size_t at_least) {
  if (x.size() < at_least) {
    return too_few(x.size(), of_what, at_least);
  }
  return fmt::format("{} over {}; at least half of {} is required (less: {})",
                     show_effect(stats::hodges_lehmann(x)), count(x.size(), of_what),
                     show_saving(theta), show_p(stats::wilcoxon_less(x, theta / 2)));
}

model::Finding finding(const Ruling& ruling, std::string because) {
  model::Finding finding;
  finding.vote = ruling.vote;
  finding.decisive = ruling.decisive;
  finding.because = std::move(because);
  return finding;
}

std::string count(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string show_effect(double effect) {
  const double more = std::expm1(-effect);
  if (more >= 0.0005) return fmt::format("costs {} more", show_percent(more));
  return fmt::format("saves {}", show_saving(effect));
}

std::string too_few(std::size_t n, std::string_view what, std::size_t at_least) {
  return fmt::format("{} counted; at least {} are needed", count(n, what), at_least);
}

}  // namespace amdahl::refute
