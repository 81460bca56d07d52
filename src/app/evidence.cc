#include "app/evidence.h"

#include <algorithm>

#include "compare/compare.h"

namespace amdahl::app {
namespace {

constexpr Nanos kSameMaxAge = std::chrono::hours(24 * 7);

// The baseline's own failures, smoothed so that a short history proves nothing.
double failure_rate(const std::vector<model::PairFact>& pairs) {
  constexpr double kUsual = 0.04;
  constexpr double kWeight = 10;
  double failed = 0;
  double tried = 0;
  for (const model::PairFact& pair : pairs) {
    tried += 1;
    failed += pair.a.failed ? 1 : 0;
  }
  return (failed + kUsual * kWeight) / (tried + kWeight);
}

}  // namespace

Pairs pairs_in(const std::vector<ledger::Run>& runs) {
  Pairs pairs;
  for (const ledger::Run& run : runs) {
    if (run.fact) {
      pairs.facts.push_back(*run.fact);
    } else if (run.state != ledger::RunState::kVoid) {
      pairs.open.push_back(run.index);
    }
  }
  std::ranges::sort(pairs.facts, {}, &model::PairFact::index);
  return pairs;
}

Result<std::vector<model::PairFact>> same_pairs(Context& context, const std::string& family) {
  const Nanos oldest = context.clock->unix_time() - kSameMaxAge;
  std::vector<model::PairFact> facts;
  for (const ledger::Run& run : TRY(context.ledger->family_runs(family, "same"))) {
    if (run.fact && run.at >= oldest) facts.push_back(*run.fact);
  }
  return facts;
}

Result<refute::Evidence> evidence_of(Context& context, const ledger::Family& family,
                                     const model::Experiment& experiment,
                                     const model::Hypothesis& hypothesis,
                                     const std::vector<ledger::Run>& runs, bool topped_up) {
  const Pairs pairs = pairs_in(runs);
  refute::Evidence evidence;
  evidence.spec = &family.spec;
  evidence.experiment = experiment;
  evidence.comparison =
      compare::judge(compare::resolved_prefix(pairs.facts, pairs.open, family.spec),
                     compare::design_of(experiment));
  evidence.pairs = pairs.facts;
  evidence.same = TRY(same_pairs(context, experiment.family));
  if (hypothesis.ceiling_share > 0) evidence.touched_share = hypothesis.ceiling_share;
  evidence.price_accelerator_hour = context.config.price_accelerator_hour;
  evidence.price_cpu_hour = context.config.price_cpu_hour;
  evidence.historical_failure_rate = failure_rate(pairs.facts);
  evidence.topped_up = topped_up;
  return evidence;
}

}  // namespace amdahl::app
