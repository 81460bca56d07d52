#include "refute/mechanism/mechanism.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"

namespace amdahl::refute::mechanism {
namespace {

using model::ArmFact;
using model::PairFact;

constexpr std::size_t kAtLeast = 5;

struct Saved {  // Seconds per unit of work, or per run where no work is reported.
  std::vector<double> component;
  std::vector<double> total;
  std::size_t silent = 0;  // Pairs in which an arm reports no phases: unknown.
};

bool names(const ArmFact& arm, const std::string& component) {
  return arm.phases.contains(component);
}

// A phase that is gone from an arm that reports others took no time there.
double seconds_in(const ArmFact& arm, const std::string& component) {
  const auto phase = arm.phases.find(component);
  return phase == arm.phases.end() ? 0 : phase->second;
}

Saved saved_in(const Evidence& evidence) {
  Saved saved;
  for (const PairFact* pair : whole_runs_for(evidence, "mechanism")) {
    const ArmFact& a = pair->a;
    const ArmFact& b = pair->b;
    if (a.phases.empty() || b.phases.empty()) {
      ++saved.silent;
      continue;
    }
    if (!names(a, evidence.component) && !names(b, evidence.component)) continue;
    const double work_a = work_or_run(*pair, a);
    const double work_b = work_or_run(*pair, b);
    saved.component.push_back(seconds_in(a, evidence.component) / work_a -
                              seconds_in(b, evidence.component) / work_b);
    saved.total.push_back(a.wall_s / work_a - b.wall_s / work_b);
  }
  return saved;
}

std::string explain(const Evidence& evidence, const Saved& saved) {
  if (saved.total.size() < kAtLeast) {
    return fmt::format("{} with a phase '{}'{}; at least {} are needed",
                       count(saved.total.size(), "pair"), evidence.component,
                       those_by_steps(evidence, "mechanism"), kAtLeast);
  }
  if (!nearly_all(saved.total.size(), saved.total.size() + saved.silent)) {
    return fmt::format("both arms report phases in only {} of {}", saved.total.size(),
                       count(saved.total.size() + saved.silent, "pair"));
  }
  const double total = stats::hodges_lehmann(saved.total);
  if (total <= 0) {
    return fmt::format("no time is saved over {}, so none is saved in '{}'",
                       count(saved.total.size(), "pair"), evidence.component);
  }
  return fmt::format("{} of the saved time is in '{}' over {}; at least 50 % is required",
                     show_percent(stats::hodges_lehmann(saved.component) / total),
                     evidence.component, count(saved.total.size(), "pair"));
}

}  // namespace

Ruling rule(std::span<const double> saved_component, std::span<const double> saved_total) {
  if (saved_total.size() < kAtLeast) return kAbstains;
  const double total = stats::hodges_lehmann(saved_total);
  if (total <= 0) return kAbstains;
  const double share = stats::hodges_lehmann(saved_component) / total;
  if (share >= 0.5) return kAgrees;
  return share < 0.25 ? kDoubts : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  const Saved saved = saved_in(evidence);
  const bool enough = nearly_all(saved.total.size(), saved.total.size() + saved.silent);
  return finding(enough ? rule(saved.component, saved.total) : kAbstains, explain(evidence, saved));
}

bool applies(const Evidence& evidence) {
  if (evidence.component.empty()) return false;
  return std::ranges::any_of(evidence.pairs, [&](const PairFact& pair) {
    return names(pair.a, evidence.component) || names(pair.b, evidence.component);
  });
}

}  // namespace amdahl::refute::mechanism
