#include "app/snapshot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/pairs.h"
#include "compare/compare.h"
#include "model/plan.h"
#include "refute/check.h"

namespace amdahl::app {
namespace {

constexpr int kExtraTopUps = 4;  // Void pairs that a targeted top-up may replace.

double mean_pair_cost(const std::vector<ledger::Run>& runs, double fallback) {
  double sum = 0;
  int n = 0;
  for (const ledger::Run& run : runs) {
    if (!run.fact || run.fact->voided) continue;
    sum += run.fact->a.cost + run.fact->b.cost;
    ++n;
  }
  return n ? sum / n : fallback;
}

// Failures since the last success, newest last.
int failures_in_a_row(const std::vector<ledger::Run>& runs) {
  int failures = 0;
  for (const ledger::Run& run : runs) {
    if (run.state == ledger::RunState::kVoid) ++failures;
    if (run.state == ledger::RunState::kCollected) failures = 0;
  }
  return failures;
}

Result<loop::FamilyState> family_state(Context& context, const ledger::Family& family,
                                       const std::vector<ledger::Run>& in_flight,
                                       const SnapshotOptions& options) {
  loop::FamilyState f;
  f.name = family.name;
  f.volume_accelerator_h_per_day = family.volume_accelerator_h_per_day;
  const model::Plan plan = TRY(make_plan(family.spec, family.baseline));
  f.slots = plan.cpus;
  const std::string baseline = digest(plan);
  double guess = 60.0 * plan.accelerators;
  if (family.profile) {
    f.profiled =
        family.profile->baseline == baseline && family.profile->at >= options.profiles_not_before;
    guess = 2 * to_seconds(family.profile->wall) * plan.accelerators;
  }
  const std::vector<ledger::Run> profiles =
      TRY(recent_runs(context, family.name, "profile", Nanos::max()));
  f.profile_failures = failures_in_a_row(profiles);
  const Nanos oldest = same_not_before(context);
  const std::vector<ledger::Run> same = TRY(recent_runs(context, family.name, "same", oldest));
  for (const ledger::Run& run : same) {
    f.same_pairs += run.fact && !run.fact->voided && run.at >= oldest ? 1 : 0;
  }
  f.same_failures = failures_in_a_row(same);
  f.pair_cost_s = mean_pair_cost(same, guess);
  for (const ledger::Run& run : in_flight) {
    if (run.family != family.name) continue;
    f.profiling |= run.purpose == "profile";
    f.same_in_flight += run.purpose == "same" ? 1 : 0;
  }
  return f;
}

void count_pairs(const std::vector<ledger::Run>& runs, loop::ExperimentState& x) {
  for (const ledger::Run& run : runs) {
    const model::Purpose purpose = purpose_of(run.purpose);
    const bool top_up = purpose == model::Purpose::kTopUp;
    if (run.state == ledger::RunState::kReserved || run.state == ledger::RunState::kSubmitted) {
      ++(top_up ? x.top_up_in_flight : x.in_flight);
    } else if (run.fact && !run.fact->voided) {
      if (purpose == model::Purpose::kCompare) ++x.compare_pairs;
      if (purpose == model::Purpose::kReplicate) ++x.replicate_pairs;
    } else if (run.fact && run.fact->b.failed) {
      ++x.variant_failures;
    } else if (run.fact && run.fact->a.failed) {
      ++x.baseline_failures;
    } else {
      ++x.other_voids;
    }
  }
}

// Pairs the top-up still owes each check that asked for some and can be helped by them.
Result<> count_top_ups(Context& context, const ledger::Family& family,
                       const model::Experiment& experiment, const model::Hypothesis& hypothesis,
                       const std::vector<ledger::Run>& runs, loop::ExperimentState& x) {
  const std::vector<model::Finding> votes = TRY(context.ledger->votes(x.id));
  const refute::Panel panel = refute::combine(votes, true, false);
  const refute::Evidence evidence =
      TRY(evidence_of(context, family, experiment, hypothesis, runs, false));
  for (const std::string& check : refute::helped_by_pairs(panel.wants_pairs, evidence)) {
    const int wanted = refute::target_of(check).pairs;
    int good = 0;
    int tried = 0;
    for (const ledger::Run& run : runs) {
      if (target_in(run.purpose) != check) continue;
      ++tried;
      good += run.state == ledger::RunState::kVoid ? 0 : 1;
    }
    const int missing = std::min(wanted - good, wanted + kExtraTopUps - tried);
    if (missing > 0) x.top_up_missing[check] = missing;
  }
  return Ok{};
}

Result<loop::ExperimentState> experiment_state(Context& context, const Snapshot& snapshot,
                                               const ledger::ExperimentRow& row,
                                               const loop::State& state) {
  const model::Experiment& e = row.experiment;
  const ledger::Family& family = snapshot.families.at(e.family);
  loop::ExperimentState x;
  x.id = e.id;
  x.hypothesis = e.hypothesis;
  x.family = e.family;
  x.stage = row.stage;
  x.claim = e.claim;
  x.sigma = e.sigma;
  x.cap = e.cap;
  const auto hypothesis = snapshot.hypotheses.find(e.hypothesis);
  if (hypothesis == snapshot.hypotheses.end()) {
    return external(fmt::format("its hypothesis {} is not live", e.hypothesis));
  }
  const model::Hypothesis& h = hypothesis->second.hypothesis;
  x.prior = h.prior;
  const model::Plan a = TRY(make_plan(family.spec, e.baseline_change));
  const model::Plan b = TRY(make_plan(family.spec, combine(e.baseline_change, h.change)));
  x.slots = std::max(a.cpus, b.cpus);
  x.baseline_moved = digest(TRY(make_plan(family.spec, family.baseline))) != e.baseline;

  const std::vector<ledger::Run> runs = TRY(context.ledger->runs_of(e.id));
  count_pairs(runs, x);
  const Pairs pairs = pairs_in(runs);
  const compare::Design design = compare::design_of(e);
  x.comparison =
      compare::judge(compare::resolved_prefix(pairs.facts, pairs.open, family.spec), design);
  x.log_e_all = x.comparison.log_e_win;
  x.pairs_needed = compare::pairs_still_needed(x.comparison, design);
  for (const loop::FamilyState& f : state.families) {
    if (f.name == e.family) {
      x.has_same = f.same_pairs >= state.settings.same_wanted ||
                   f.same_failures >= 2 * state.settings.failures_allowed;
    }
  }
  if (x.stage == "top-up") TRY(count_top_ups(context, family, e, h, runs, x));
  if (x.stage == "hold") {
    const std::vector<model::Finding> votes = TRY(context.ledger->votes(x.id));
    const bool enough = x.log_e_all >= state.log_promotion_threshold;
    x.would_survive = refute::combine(votes, enough, true).outcome == refute::Outcome::kSurvives;
  }
  return x;
}

}  // namespace

Result<double> promotion_threshold(Context& context) {
  const auto campaign = TRY(context.ledger->campaign());
  const double k = campaign ? campaign->k : context.config.campaign_k;
  const double alpha = campaign ? campaign->alpha : context.config.campaign_alpha;
  const double promoted = campaign ? campaign->promoted : 0;
  return std::log(k / (alpha * (promoted + 1)));
}

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options) {
  Snapshot snapshot;
  loop::State& state = snapshot.state;
  state.settings.per_family = std::max(1, context.config.per_family);
  state.settings.same_wanted = context.config.same_pairs;
  state.settings.horizon_days = context.config.horizon_days;
  state.log_promotion_threshold = TRY(promotion_threshold(context));
  const auto campaign = TRY(context.ledger->campaign());
  state.campaign_full = campaign && campaign->registered >= campaign->k;

  snapshot.in_flight = TRY(context.ledger->runs_in_flight());
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    state.families.push_back(
        TRY(family_state(context, family, snapshot.in_flight, options).in(family.name)));
    snapshot.families.emplace(family.name, family);
  }
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", "live"))) {
    snapshot.hypotheses.emplace(row.hypothesis.id, row);
  }
  std::vector<std::string> tested;
  for (const ledger::ExperimentRow& row : TRY(context.ledger->live_experiments())) {
    snapshot.experiments.emplace(row.experiment.id, row);
    tested.push_back(row.experiment.hypothesis);
    state.experiments.push_back(
        TRY(experiment_state(context, snapshot, row, state).in(row.experiment.id)));
  }
  for (const auto& [id, row] : snapshot.hypotheses) {
    if (std::ranges::find(tested, id) != tested.end()) continue;
    const model::Hypothesis& h = row.hypothesis;
    const double gain = std::clamp(h.predicted_gain, 0.0, 0.99);
    state.queued.push_back({id, h.family, -std::log1p(-gain), h.prior});
  }
  return snapshot;
}

}  // namespace amdahl::app
