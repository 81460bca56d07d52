#include "loop/evidence.h"

#include <algorithm>
#include <iterator>

namespace amdahl::loop {

bool tells_early(std::string_view check) {
  constexpr std::string_view kEarly[] = {"design", "work", "quality", "cost", "input", "amdahl"};
  return std::ranges::find(kEarly, check) != std::end(kEarly);
}

FailureRate failure_rate(std::span<const model::PairFact> pairs, int past_runs, int past_failed) {
  constexpr double kUsual = 0.04;
  constexpr double kWeight = 10;
  double failed = past_failed;
  double tried = past_runs;
  for (const model::PairFact& pair : pairs) {
    tried += 1;
    failed += pair.a.failed ? 1 : 0;
  }
  return {(failed + kUsual * kWeight) / (tried + kWeight), tried + kWeight};
}

void describe(const model::Hypothesis& hypothesis, std::span<const refute::Dose> doses,
              refute::Evidence& evidence) {
  if (hypothesis.ceiling_share > 0) evidence.touched_share = hypothesis.ceiling_share;
  evidence.component = hypothesis.component;
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
