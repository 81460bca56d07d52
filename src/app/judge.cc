#include "app/judge.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/pairs.h"
#include "app/promote.h"
#include "base/hash.h"
#include "base/text.h"
#include "compare/compare.h"
#include "model/codec.h"
#include "model/plan.h"
#include "os/host.h"
#include "refute/check.h"

namespace amdahl::app {
namespace {

using model::VerdictKind;

std::vector<double> ratios_of(const std::vector<model::PairFact>& pairs, const model::Spec& spec) {
  std::vector<double> ratios;
  for (const model::PairFact& pair : pairs) {
    if (pair.voided) continue;
    if (const auto d = compare::log_ratio(pair, spec)) ratios.push_back(*d);
  }
  return ratios;
}

Result<ledger::Campaign> open_campaign(Context& context, std::int64_t fence) {
  const auto open = TRY(context.ledger->campaign());
  if (open) return *open;
  const std::string seed = os::random_hex(32);
  const std::string id = fmt::format("c-{}", seed.substr(0, 8));
  TRY(note(context,
           {"campaign.opened",
            "cycle",
            id,
            {{"k", context.config.campaign_k},
             {"alpha", context.config.campaign_alpha},
             {"seed", seed},
             {"seed_hash", sha256_hex(seed)}}},
           fence));
  const auto campaign = TRY(context.ledger->campaign());
  CHECK(campaign.has_value());
  return *campaign;
}

// "x-" and the hypothesis's digits; a hypothesis has one experiment at most, so that is unique.
std::string experiment_id(const std::string& hypothesis) {
  return "x-" + (hypothesis.starts_with("h-") ? hypothesis.substr(2) : hypothesis);
}

std::string tally_of(const std::vector<model::Finding>& votes) {
  const auto count = [&](model::Vote vote) {
    return std::ranges::count(votes, vote, &model::Finding::vote);
  };
  return fmt::format("{} agree, {} refute, {} abstain", count(model::Vote::kAgree),
                     count(model::Vote::kRefute), count(model::Vote::kAbstain));
}

ledger::Draft stage_draft(const std::string& experiment, const std::string& stage) {
  return {"experiment.staged", "cycle", experiment, {{"stage", stage}}};
}

ledger::Draft verdict_draft(const model::Experiment& experiment, VerdictKind kind,
                            const std::string& reason, const model::Comparison& comparison,
                            Nanos now) {
  model::Verdict verdict;
  verdict.hypothesis = experiment.hypothesis;
  verdict.experiment = experiment.id;
  verdict.kind = kind;
  verdict.reason = reason;
  verdict.comparison = comparison;
  verdict.at = now;
  return {"verdict.recorded", "cycle", experiment.hypothesis, encode(verdict)};
}

}  // namespace

Result<std::string> register_experiment(Context& context, const Snapshot& snapshot,
                                        const std::string& hypothesis, std::int64_t fence) {
  const model::Hypothesis& h = snapshot.hypotheses.at(hypothesis).hypothesis;
  const ledger::Family& family = snapshot.families.at(h.family);
  const ledger::Campaign campaign = TRY(open_campaign(context, fence));

  model::Experiment e;
  e.id = experiment_id(h.id);
  e.hypothesis = h.id;
  e.family = h.family;
  e.campaign = campaign.id;
  e.metric = family.spec.metric;
  e.claim = -std::log1p(-std::clamp(h.predicted_gain, 0.0, 0.95));
  e.sigma = compare::sigma_from_same(ratios_of(TRY(same_pairs(context, h.family)), family.spec));
  e.delta = std::max({0.01, e.claim / 2, e.sigma / 2});
  e.alpha = campaign.alpha;
  e.beta = context.config.beta;
  e.cap = context.config.cap;
  e.seed = campaign.seed;
  e.baseline_change = family.baseline;
  e.baseline = digest(TRY(make_plan(family.spec, family.baseline)));
  e.registered = context.clock->unix_time();
  TRY(context.ledger->append(
      std::vector<ledger::Draft>{{"experiment.registered", "cycle", e.id, encode(e)},
                                 stage_draft(e.id, "compare")},
      fence));
  return fmt::format("{}: test '{}' ({}), claimed saving {}, smallest that matters {}", h.family,
                     h.title, describe(h.change), show_percent(h.predicted_gain),
                     show_percent(1 - std::exp(-e.delta)));
}

Result<std::string> ask_panel(Context& context, const Snapshot& snapshot,
                              const std::string& experiment, std::int64_t fence) {
  const ledger::ExperimentRow& row = snapshot.experiments.at(experiment);
  const model::Experiment& e = row.experiment;
  const model::Hypothesis& h = snapshot.hypotheses.at(e.hypothesis).hypothesis;
  const ledger::Family& family = snapshot.families.at(e.family);
  const std::vector<ledger::Run> runs = TRY(context.ledger->runs_of(e.id));
  const bool topped_up = row.stage == "top-up" || row.stage == "hold";
  const refute::Evidence evidence = TRY(evidence_of(context, family, e, h, runs, topped_up));
  const std::vector<model::Finding> votes = refute::ask_all(evidence);
  const bool multiplicity_ok =
      evidence.comparison.log_e_win >= snapshot.state.log_promotion_threshold;
  refute::Panel panel = refute::combine(votes, multiplicity_ok, topped_up);
  // Where no pair could settle the doubt there is nothing to buy.
  if (panel.outcome == refute::Outcome::kTopUp &&
      refute::helped_by_pairs(panel.wants_pairs, evidence).empty()) {
    panel = refute::combine(votes, multiplicity_ok, true);
  }

  std::vector<ledger::Draft> drafts;
  for (const model::Finding& vote : votes) {
    drafts.push_back({"check.voted", "cycle", e.id, encode(vote)});
  }
  drafts.push_back({"comparison.made", "cycle", e.id, encode(evidence.comparison)});
  const Nanos now = context.clock->unix_time();
  std::string what;
  switch (panel.outcome) {
    case refute::Outcome::kRefuted:
      drafts.push_back(
          verdict_draft(e, VerdictKind::kRefuted, panel.because, evidence.comparison, now));
      what = "refuted";
      break;
    case refute::Outcome::kTopUp:
      drafts.push_back(stage_draft(e.id, "top-up"));
      what = "more evidence is wanted";
      break;
    case refute::Outcome::kHold:
      drafts.push_back(stage_draft(e.id, "hold"));
      what = "held";
      break;
    case refute::Outcome::kSurvives:
      drafts.push_back(
          {"gate.opened", "cycle", e.id,
           encode(TRY(make_packet(context, family, e, h, evidence.comparison, votes)))});
      drafts.push_back(stage_draft(e.id, "gate"));
      what = "survived the panel, waits at the gate";
      break;
  }
  TRY(context.ledger->append(drafts, fence));
  return fmt::format("{}: '{}' {} ({}): {}", e.family, h.title, what, tally_of(votes),
                     panel.because);
}

Result<std::string> close_experiment(Context& context, const Snapshot& snapshot,
                                     const std::string& experiment, VerdictKind kind,
                                     const std::string& reason, std::int64_t fence) {
  const model::Experiment& e = snapshot.experiments.at(experiment).experiment;
  const Pairs pairs = pairs_in(TRY(context.ledger->runs_of(e.id)));
  const model::Spec& spec = snapshot.families.at(e.family).spec;
  const model::Comparison comparison = compare::judge(
      compare::resolved_prefix(pairs.facts, pairs.open, spec), compare::design_of(e));
  TRY(note(context, verdict_draft(e, kind, reason, comparison, context.clock->unix_time()), fence));
  const auto h = snapshot.hypotheses.find(e.hypothesis);
  return fmt::format("{}: '{}' is {}: {}", e.family,
                     h == snapshot.hypotheses.end() ? e.hypothesis : h->second.hypothesis.title,
                     name(kind), reason);
}

}  // namespace amdahl::app
