#include "refute/design/design.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
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

Ruling rule(const std::vector<bool>& assigned, const std::vector<bool>& executed) {
  if (assigned.size() < kAtLeast) return kAbstains;
  const auto as_assigned = static_cast<double>(matches(assigned, executed));
  if (as_assigned / static_cast<double>(assigned.size()) < 0.95) return kVetoes;
  return p_fair(executed) < 0.001 ? kVetoes : kAgrees;
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
  return finding(ruling, fmt::format("{} of {} ran in the assigned order; the variant ran second "
                                     "in {} (unfair coin: {})",
                                     matches(assigned, executed), count(assigned.size(), "pair"),
                                     seconds_of(executed), show_p(p_fair(executed))));
}

}  // namespace amdahl::refute::design
