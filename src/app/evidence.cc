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

Result<std::vector<ledger::Run>> recent_runs(Context& context, const std::string& family,
                                             const std::string& purpose, Nanos not_before) {
  std::vector<ledger::Run> runs;
  bool succeeded = false;
  TRY(context.ledger->each_family_run(family, purpose, [&](const ledger::Run& run) {
    if (succeeded && run.at < not_before) return false;
    succeeded |= run.state == ledger::RunState::kCollected;
    runs.push_back(run);
    return true;
  }));
  std::ranges::reverse(runs);
  return runs;
}

Nanos same_not_before(Context& context) { return context.clock->unix_time() - kSameMaxAge; }

Result<std::vector<model::PairFact>> same_pairs(Context& context, const std::string& family) {
  const Nanos oldest = same_not_before(context);
  std::vector<model::PairFact> facts;
  for (const ledger::Run& run : TRY(recent_runs(context, family, "same", oldest))) {
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
