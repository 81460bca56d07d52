#include "refute/design/design.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "refute/facts.h"
#include "stats/tests.h"

namespace amdahl::refute::design {
namespace {

constexpr std::size_t kAtLeast = 6;

int seconds_of(const std::vector<bool>& order) {
  return static_cast<int>(std::ranges::count(order, true));
}

std::size_t matches(const std::vector<bool>& assigned, const std::vector<bool>& executed) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < assigned.size(); ++i) same += assigned[i] == executed[i] ? 1 : 0;
  return same;
}

double p_fair(const std::vector<bool>& executed) {
  return stats::binomial_two_sided_half(seconds_of(executed), static_cast<int>(executed.size()));
}

}  // namespace

double log_e_unfair(int seconds, int pairs) {
  return pairs * std::log(2) + std::lgamma(seconds + 1) + std::lgamma(pairs - seconds + 1) -
         std::lgamma(pairs + 2);
}

Ruling rule(const std::vector<bool>& assigned, const std::vector<bool>& executed) {
  if (assigned.size() < kAtLeast) return kAbstains;
  const auto as_assigned = static_cast<double>(matches(assigned, executed));
  if (as_assigned / static_cast<double>(assigned.size()) < 0.95) return kVetoes;
  const double log_e = log_e_unfair(seconds_of(executed), static_cast<int>(executed.size()));
  if (log_e >= std::log(1000)) return kVetoes;
  return p_fair(executed) < 0.001 ? kAbstains : kAgrees;
}

model::Finding run(const Evidence& evidence) {
  std::vector<bool> assigned;
  std::vector<bool> executed;
  const std::vector<Trial> trials = trials_in(evidence, pairs_for(evidence, "design"));
  for (const Trial& trial : trials) {
    if (!trial.ran_second.has_value()) continue;
    assigned.push_back(trial.assigned_second);
    executed.push_back(*trial.ran_second);
  }
  if (!nearly_all(assigned.size(), trials.size())) {
    return finding(kAbstains, fmt::format("which arm ran second is known in {} of {}",
                                          assigned.size(), count(trials.size(), "pair")));
  }
  const Ruling ruling = rule(assigned, executed);
  if (assigned.size() < kAtLeast) {
    return finding(ruling, too_few(assigned.size(), "pair", kAtLeast));
  }
  const int seconds = seconds_of(executed);
  const double log_e = log_e_unfair(seconds, static_cast<int>(executed.size()));
  return finding(ruling,
                 fmt::format("{} of {} ran in the assigned order; the variant ran second in {} "
                             "(unfair coin: {}{})",
                             matches(assigned, executed), count(assigned.size(), "pair"), seconds,
                             show_p(p_fair(executed)),
                             ruling == kAgrees ? "" : fmt::format(", E {}", show_e(log_e))));
}

}  // namespace amdahl::refute::design
