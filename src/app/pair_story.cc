#include "app/pair_story.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/history.h"
#include "base/json.h"
#include "base/text.h"
#include "compare/compare.h"
#include "compare/judge.h"
#include "launch/local/local.h"
#include "os/files.h"
#include "os/left.h"

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

Result<std::vector<PairReceipt>> receipts_of(Context& context, const std::string& id,
                                             const std::string& reservation) {
  const model::Experiment experiment = TRY(experiment_of(context, id));
  for (const model::Pair& pair : TRY(context.ledger->runs_of(experiment.id))) {
    if (pair.reservation != reservation) continue;
    const launch::local::RunFolder folder{
        context.path("runs/" + (pair.block.empty() ? pair.reservation : pair.block))};
    std::vector<PairReceipt> receipts;
    const std::string variant(1, static_cast<char>('A' + pair.arm));
    const auto arms =
        pair.steps ? std::vector<std::string>{"steps"} : std::vector<std::string>{"A", variant};
    for (const std::string& arm : arms) {
      PairReceipt& one = receipts.emplace_back(PairReceipt{.arm = arm});
      const auto text = os::read_left(folder.receipt(arm));
      auto read = text ? parse_json(*text) : Result<Json>(text.error());
      if (read) {
        one.receipt = *std::move(read);
      } else {
        one.missing = os::exists(folder.path) ? read.error().text
                                              : "the run's folder was removed: amdahl clean";
      }
    }
    return receipts;
  }
  return Error{Error::Kind::kNotFound, fmt::format("{} has no pair with the reservation '{}'",
                                                   experiment.hypothesis, clip(reservation, 40))};
}

}  // namespace amdahl::app
