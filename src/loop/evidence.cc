#include "loop/evidence.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compare/compare.h"
#include "refute/facts.h"

namespace amdahl::loop {

bool tells_early(std::string_view check) {
  constexpr std::string_view kEarly[] = {"design", "work", "quality", "cost", "input", "amdahl"};
  return std::ranges::find(kEarly, check) != std::end(kEarly);
}

refute::UsualFailures usual_failures(std::span<const model::PairFact> pairs, const PastRuns& past,
                                     bool own) {
  constexpr double kUsual = 0.04;
  constexpr double kWeight = 10;
  double failed = past.failed - (own ? past.lost : 0);
  double tried = past.runs - (own ? past.lost : 0);
  for (const model::PairFact& pair : pairs) {
    if (own && refute::was_lost(pair.a)) continue;
    tried += 1;
    failed += pair.a.failed ? 1 : 0;
  }
  return {(failed + kUsual * kWeight) / (tried + kWeight), tried + kWeight};
}

double noise_of(std::span<const double> same) {
  double noise = compare::sigma_from_same(same);
  for (const double d : same) {
    if (same.size() < 6) noise = std::min(0.30, std::max(noise, 1.5 * std::abs(d)));
  }
  return noise;
}

model::Spec as_registered(const model::Experiment& e, model::Spec spec) {
  if (!e.metric.empty()) spec.metric = e.metric;
  spec.lower_is_better = e.lower_is_better.value_or(spec.lower_is_better);
  return spec;
}

void describe(const model::Hypothesis& hypothesis, std::span<const refute::Dose> doses,
              refute::Evidence& evidence) {
  if (hypothesis.ceiling_share > 0) evidence.touched_share = hypothesis.ceiling_share;
  evidence.component = hypothesis.component;
  model::Change fewer;
  fewer.accelerators = hypothesis.change.accelerators;
  evidence.only_fewer = fewer.accelerators && hypothesis.change == fewer;
  if (hypothesis.dose.empty()) return;
  for (const refute::Dose& dose : doses) {
    if (dose.knob == hypothesis.dose) evidence.doses.push_back(dose);
  }
  evidence.doses.push_back({hypothesis.dose, hypothesis.dose_value, evidence.comparison.effect});
}

std::vector<std::string> targets_of(std::span<const model::Finding> votes,
                                    const refute::Evidence& evidence, bool curious) {
  const refute::Panel panel = refute::combine(votes, true, false);
  const bool survives = panel.outcome == refute::Outcome::kSurvives;
  std::vector<std::string> wants = survives ? panel.also_wants : panel.wants_pairs;
  if (!curious) std::erase(wants, "contention");
  return refute::helped_by_pairs(wants, evidence);
}

}  // namespace amdahl::loop
