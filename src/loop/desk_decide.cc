// What the desk does when the plan says so.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "compare/compare.h"
#include "loop/desk.h"
#include "loop/evidence.h"
#include "model/plan.h"
#include "stats/coin.h"
#include "stats/estimate.h"

namespace amdahl::loop {
namespace {

using model::Purpose;
using model::VerdictKind;

// "x-" and the hypothesis's digits; a hypothesis has one experiment at most, so that is unique.
std::string experiment_id(const std::string& hypothesis) {
  return "x-" + (hypothesis.starts_with("h-") ? hypothesis.substr(2) : hypothesis);
}

std::string tally_of(std::span<const model::Finding> votes) {
  const auto count = [&](model::Vote vote) {
    return std::ranges::count(votes, vote, &model::Finding::vote);
  };
  return fmt::format("{} agree, {} refute, {} abstain", count(model::Vote::kAgree),
                     count(model::Vote::kRefute), count(model::Vote::kAbstain));
}

Judged judged(const model::Hypothesis& h, const std::string& experiment, VerdictKind kind,
              const std::string& reason, std::optional<model::Comparison> comparison, Nanos now) {
  model::Verdict verdict;
  verdict.hypothesis = h.id;
  verdict.experiment = experiment;
  verdict.kind = kind;
  verdict.reason = reason;
  verdict.comparison = std::move(comparison);
  verdict.at = now;
  return {verdict};
}

std::string_view describe(refute::Outcome outcome) {
  switch (outcome) {
    case refute::Outcome::kRefuted:
      return "refuted";
    case refute::Outcome::kTopUp:
      return "more evidence is wanted";
    case refute::Outcome::kHold:
      return "held";
    case refute::Outcome::kSurvives:
      return "survived the panel, waits at the gate";
  }
  return "";
}

}  // namespace

Result<bool> Desk::act(const Intent& intent, Hands& hands) {
  if (const auto* doomed = std::get_if<Close>(&intent)) {
    TRY(close(*doomed, hands));
  } else if (const auto* onward = std::get_if<Stage>(&intent)) {
    TRY(stage(*onward, hands));
  } else if (const auto* ask = std::get_if<AskPanel>(&intent)) {
    TRY(ask_panel(*ask, hands));
  } else if (const auto* start = std::get_if<Register>(&intent)) {
    TRY(register_one(start->hypothesis, hands));
  } else if (std::holds_alternative<OpenCampaign>(intent)) {
    TRY(open_campaign(hands));
  } else if (const auto* worthless = std::get_if<Drop>(&intent)) {
    TRY(drop(*worthless, hands));
  } else {
    return false;
  }
  return true;
}

Result<> Desk::close(const Close& what, Hands& hands) {
  const Track& track = tracks_.at(what.experiment);
  const model::Hypothesis& h = ideas_.at(track.experiment.hypothesis);
  const model::Comparison comparison = track.judge.comparison();
  const std::string reason = what.reason.empty() ? comparison.because : what.reason;
  const std::vector<Happening> all{
      judged(h, what.experiment, what.verdict, reason, comparison, hands.now())};
  TRY(hands.remember(all));
  hands.say(fmt::format("{}: '{}' is {}: {}", h.family, h.title, name(what.verdict), reason));
  remove(what.experiment);
  return Ok{};
}

Result<> Desk::stage(const Stage& what, Hands& hands) {
  const std::vector<Happening> all{Staged{what.experiment, what.stage}};
  TRY(hands.remember(all));
  set_stage(tracks_.at(what.experiment), what.stage);
  return Ok{};
}

Result<> Desk::open_campaign(Hands& hands) {
  CampaignOpened opened;
  opened.seed = hands.fresh_seed();
  opened.id = fmt::format("c-{}", opened.seed.substr(0, 8));
  opened.campaign = state_.campaign;
  opened.campaign.promoted = 0;
  const std::vector<Happening> all{opened};
  TRY(hands.remember(all));
  campaign_ = opened.id;
  seed_ = opened.seed;
  state_.campaign = opened.campaign;
  state_.campaign_open = true;
  state_.registered = 0;
  return Ok{};
}

Result<> Desk::drop(const Drop& what, Hands& hands) {
  const model::Hypothesis h = ideas_.at(what.hypothesis);
  const std::string reason = fmt::format(
      "it would give back {:.2g} hours for each hour it takes to prove, and {:.2g} are asked",
      what.worth, state_.settings.worth_at_least);
  const std::vector<Happening> all{
      judged(h, "", VerdictKind::kDropped, reason, std::nullopt, hands.now())};
  TRY(hands.remember(all));
  hands.say(fmt::format("{}: '{}' is dropped: {}", h.family, h.title, reason));
  unqueue(h.id);
  ideas_.erase(h.id);
  return Ok{};
}

// Pre-registers: claim, sigma, delta, cap, seed and baseline are fixed here, before any pair.
Result<model::Experiment> Desk::design(const model::Hypothesis& h, Nanos now) const {
  const Family& family = families_.at(h.family);
  std::vector<double> same;
  for (const model::PairFact& pair : family.record.same) {
    const std::vector<double> d = compare::log_ratios(pair, family.record.spec);
    same.insert(same.end(), d.begin(), d.end());
  }
  model::Experiment e;
  e.id = experiment_id(h.id);
  e.hypothesis = h.id;
  e.family = h.family;
  e.campaign = campaign_;
  e.metric = family.record.spec.metric;
  e.claim = -std::log1p(-std::clamp(h.predicted_gain, 0.0, 0.95));
  e.sigma = compare::sigma_from_same(same);
  e.delta = stats::futility_margin(e.claim, e.sigma);
  e.alpha = state_.campaign.alpha;
  e.beta = state_.settings.beta;
  e.cap = state_.settings.cap;
  e.weight = 1.0 / state_.campaign.hypotheses;
  e.seed = seed_;
  e.baseline_change = family.record.baseline;
  e.baseline = family.digest;
  e.registered = now;
  return e;
}

Result<> Desk::register_one(const std::string& hypothesis, Hands& hands) {
  const model::Hypothesis& h = ideas_.at(hypothesis);
  const model::Experiment e = TRY(design(h, hands.now()));
  const std::vector<Happening> all{Registered{e}, Staged{e.id, "compare"}};
  TRY(hands.remember(all));
  hands.say(fmt::format("{}: test '{}' ({}), claimed saving {}, smallest that matters {}", h.family,
                        h.title, model::describe(h.change), show_percent(h.predicted_gain),
                        show_percent(1 - std::exp(-e.delta))));
  ++state_.registered;
  return add(e, "compare", {});
}

// What follows from the votes, given what there is to buy.
refute::Panel Desk::outcome_of(const Track& track, const std::vector<model::Finding>& votes,
                               const refute::Evidence& known, bool multiplicity_ok) const {
  using refute::Outcome;
  refute::Panel panel = refute::combine(votes, multiplicity_ok, known.topped_up);
  const bool buys = !missing(track, wanted(votes, known)).empty();
  // Where no pair could settle the doubt there is nothing to buy.
  if (panel.outcome == Outcome::kTopUp && !buys) {
    panel = refute::combine(votes, multiplicity_ok, true);
  }
  // What the campaign would not promote anyway has to wait before more is spent on it.
  if (panel.outcome == Outcome::kTopUp && !multiplicity_ok) {
    panel.outcome = Outcome::kHold;
    panel.because += " once E is within reach of the campaign's level";
  }
  if (panel.outcome == Outcome::kSurvives && buys) panel.outcome = Outcome::kTopUp;
  return panel;
}

// All checks vote; the votes and what follows are remembered together.
Result<> Desk::ask_panel(const AskPanel& ask, Hands& hands) {
  Track& track = tracks_.at(ask.experiment);
  const bool topped_up = state_of(track).stage == "top-up" || !track.bought.empty();
  const refute::Evidence known = evidence(ask.experiment, topped_up);
  const std::vector<model::Finding> votes = refute::ask_all(known);
  const bool multiplicity_ok = known.comparison.log_e_win >= ask.log_level;
  const refute::Panel panel = outcome_of(track, votes, known, multiplicity_ok);
  const model::Hypothesis& h = ideas_.at(track.experiment.hypothesis);
  std::vector<Happening> all;
  for (const model::Finding& vote : votes) all.push_back(Voted{ask.experiment, vote});
  all.push_back(Compared{ask.experiment, known.comparison});
  std::string onward;
  switch (panel.outcome) {
    case refute::Outcome::kRefuted:
      all.push_back(judged(h, ask.experiment, VerdictKind::kRefuted, panel.because,
                           known.comparison, hands.now()));
      break;
    case refute::Outcome::kTopUp:
      onward = "top-up";
      break;
    case refute::Outcome::kHold:
      onward = "hold";
      break;
    case refute::Outcome::kSurvives:
      all.push_back(GateOpened{ask.experiment, known.comparison, votes, refute::holds_for(known)});
      onward = "gate";
      break;
  }
  if (!onward.empty()) all.push_back(Staged{ask.experiment, onward});
  TRY(hands.remember(all));
  hands.say(fmt::format("{}: '{}' {} ({}): {}", h.family, h.title, describe(panel.outcome),
                        tally_of(votes), panel.because));
  track.votes = votes;
  if (onward.empty()) {
    remove(ask.experiment);
  } else {
    set_stage(track, onward);
  }
  return Ok{};
}

std::optional<PairOrder> Desk::order_for(const Intent& wish) const {
  PairOrder order;
  if (const auto* same = std::get_if<RunSame>(&wish)) {
    const Family& family = families_.at(same->family);
    order.family = same->family;
    order.purpose = name(Purpose::kSame);
    order.index = family.last_same + 1;
    order.variant_second = stats::coin("same", order.family, order.index);
    order.a = order.b = family.record.baseline;
    order.concurrent = family.record.spec.pairing == "concurrent";
    order.steps = family.record.spec.pairing == "steps";
    return order;
  }
  const auto* pair = std::get_if<RunPair>(&wish);
  if (!pair) return std::nullopt;
  const Track& track = tracks_.at(pair->experiment);
  const model::Experiment& e = track.experiment;
  const model::Spec& spec = families_.at(e.family).record.spec;
  order.family = e.family;
  order.experiment = e.id;
  order.purpose = purpose_text(pair->purpose, pair->target);
  order.index = track.last_index + 1;
  order.variant_second = stats::coin(e.seed, e.hypothesis, order.index);
  order.concurrent = spec.pairing == "concurrent";
  order.steps = spec.pairing == "steps";
  order.stratum = next_stratum(spec, track.dealt);
  order.a = e.baseline_change;
  order.b = combine(e.baseline_change, ideas_.at(e.hypothesis).change);
  if (pair->purpose == Purpose::kTopUp) {
    const refute::Target target =
        refute::target_of(pair->target, gather(track, track.judge.peek(), false));
    order.variant_second = target.variant_second.value_or(order.variant_second);
    order.contended = target.contended;
    order.steps &= !target.whole_runs;
    if (!target.stratum.empty()) order.stratum = target.stratum;
    if (target.same) order.b = order.a;
  } else if (!order.concurrent && !order.steps) {
    add_mates(track, order);
  }
  const auto stratum = std::ranges::find(spec.strata, order.stratum, &model::Stratum::name);
  if (stratum != spec.strata.end()) {
    order.a = combine(selecting(*stratum), order.a);
    order.b = combine(selecting(*stratum), order.b);
    for (Mate& mate : order.mates) mate.change = combine(selecting(*stratum), mate.change);
  }
  return order;
}

// Other experiments of the family that want a pair on the same baseline share its run.
void Desk::add_mates(const Track& leader, PairOrder& order) const {
  for (const std::string& id : families_.at(order.family).live) {
    if (static_cast<int>(order.mates.size()) + 1 >= state_.settings.block_variants) break;
    const ExperimentState& x = state_.experiments[tracks_.at(id).at];
    const bool comparing = x.stage == "compare" && x.answer == model::Answer::kCannotTell &&
                           x.compare_pairs + x.in_flight < x.cap && x.in_flight < x.pairs_needed;
    const bool replicating =
        x.stage == "refute" && x.replicate_pairs + x.in_flight < state_.settings.replicate_at_least;
    if (x.id == leader.experiment.id || x.baseline_moved) continue;
    if (!comparing && !replicating) continue;
    const Track& other = tracks_.at(x.id);
    if (other.experiment.baseline != leader.experiment.baseline) continue;
    Mate mate;
    mate.experiment = x.id;
    mate.purpose = name(comparing ? Purpose::kCompare : Purpose::kReplicate);
    mate.index = other.last_index + 1;
    mate.change = combine(other.experiment.baseline_change, ideas_.at(x.hypothesis).change);
    order.mates.push_back(std::move(mate));
  }
  if (order.mates.empty()) return;
  const int arms = static_cast<int>(order.mates.size()) + 2;
  const model::Experiment& e = leader.experiment;
  order.order = block_order(e.seed, e.hypothesis, order.index, arms);
  const auto place = [&](int arm) { return std::ranges::find(order.order, arm); };
  order.variant_second = place(1) > place(0);
  for (std::size_t i = 0; i < order.mates.size(); ++i) {
    order.mates[i].variant_second = place(static_cast<int>(i) + 2) > place(0);
  }
}

}  // namespace amdahl::loop
