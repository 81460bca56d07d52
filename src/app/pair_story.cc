#include "app/pair_story.h"

#include <algorithm>

#include <fmt/core.h>

#include "app/history.h"
#include "compare/compare.h"
#include "compare/judge.h"

namespace amdahl::app {
namespace {

// The experiment that is live, or the one of the verdict.
Result<model::Experiment> experiment_of(Context& context, const std::string& id) {
  const ledger::HypothesisRow row = TRY(find_hypothesis(context, id));
  for (const ledger::ExperimentRow& live : TRY(context.ledger->live_experiments())) {
    if (live.experiment.hypothesis == row.hypothesis.id) return live.experiment;
  }
  const std::optional<model::Verdict> verdict = TRY(context.ledger->verdict(row.hypothesis.id));
  if (verdict && !verdict->experiment.empty()) {
    return TRY(context.ledger->experiment(verdict->experiment)).experiment;
  }
  return Error{Error::Kind::kNotFound,
               fmt::format("{} has no experiment yet: no pair was run", row.hypothesis.id)};
}

}  // namespace

Result<PairStory> pairs_of(Context& context, const std::string& id) {
  PairStory story{TRY(experiment_of(context, id)), {}};
  const model::Experiment& experiment = story.experiment;
  model::Spec spec = TRY(context.ledger->family(experiment.family)).spec;
  story.work_unit = spec.work_unit;
  if (!experiment.metric.empty()) spec.metric = experiment.metric;
  spec.lower_is_better = experiment.lower_is_better.value_or(spec.lower_is_better);
  const compare::Design design = compare::design_of(experiment);
  story.e_better = design.win_threshold;

  for (model::Pair& pair : TRY(context.ledger->runs_of(experiment.id))) {
    story.steps.push_back({.pair = std::move(pair)});
  }
  std::ranges::stable_sort(story.steps, {}, [](const PairStep& step) {
    return std::pair(!model::feeds_evidence(step.pair.aim.purpose), step.pair.index);
  });
  compare::Judge judge(design);
  bool resolved = true;  // Only what lies before the first open pair counts.
  for (PairStep& step : story.steps) {
    const bool counts = model::feeds_evidence(step.pair.aim.purpose);
    if (!step.pair.fact) {
      resolved &= !(counts && model::in_flight(step.pair));
      continue;
    }
    step.void_because = step.pair.fact->voided ? step.pair.fact->void_reason
                                               : compare::why_void(*step.pair.fact, spec);
    if (!step.void_because.empty()) continue;
    step.effect = compare::log_ratio(*step.pair.fact, spec);
    if (!counts || !resolved) continue;
    for (const double d : compare::log_ratios(*step.pair.fact, spec)) judge.fold(d);
    step.after = judge.comparison();
  }
  return story;
}

}  // namespace amdahl::app
