// What the loop does when the plan says so.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "loop/evidence.h"
#include "loop/experiments.h"
#include "loop/verdict.h"
#include "model/plan.h"
#include "model/spec_digest.h"
#include "stats/promise.h"

namespace amdahl::loop {
namespace {

using model::Stage;
using model::VerdictKind;

// "x-" and the digits of the hypothesis: unique, for a hypothesis has at most one experiment.
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

// B's last failure, unless `said` mentions it.
std::string last_failure(std::span<const model::PairFact> pairs, const std::string& said) {
  std::string last;
  for (const model::PairFact& pair : pairs) {
    if (pair.b.failed && !pair.b.failure.empty()) last = pair.b.failure;
  }
  return last.empty() || said.find(last) != said.npos ? "" : ": " + last;
}

std::string_view outcome_words(refute::Outcome outcome) {
  switch (outcome) {
    case refute::Outcome::kRefuted:
      return "refuted";
    case refute::Outcome::kTopUp:
      return "needs more evidence";
    case refute::Outcome::kHold:
      return "on hold";
    case refute::Outcome::kSurvives:
      return "survived the panel, waits at the gate";
  }
  return "";
}

}  // namespace

Result<bool> Experiments::act(const Intent& intent, Effects& effects) {
  return std::visit([&](const auto& one) { return perform(one, effects); }, intent);
}

Result<bool> Experiments::perform(const Close& what, Effects& effects) {
  const Track& track = tracks_.at(what.experiment);
  const model::Hypothesis& h = ideas_.at(track.experiment.hypothesis);
  // Pairs that ended under another spec may speak of another metric.
  std::optional<model::Comparison> comparison;
  if (state_of(track).spec_changed.empty()) comparison = track.judge.comparison();
  std::string reason = what.reason.empty() && comparison ? comparison->because : what.reason;
  if (what.verdict == VerdictKind::kInvalid) reason += last_failure(track.pairs, reason);
  const std::vector<LoopEvent> all{
      judged(h, what.experiment, what.verdict, reason, comparison, effects.now())};
  TRY(effects.remember(kActor, all));
  effects.say(fmt::format("{}: '{}' is {}: {}", h.family, h.title, name(what.verdict), reason));
  remove(what.experiment);
  return true;
}

// A veto that rests on amounts and bounds needs no fresh pairs: they would be spent in vain.
std::optional<model::Finding> Experiments::early_veto(std::span<const model::Finding> votes) {
  for (const model::Finding& vote : votes) {
    if (vote.decisive && tells_early(vote.check)) return vote;
  }
  return std::nullopt;
}

Result<bool> Experiments::refute_early(const Track& track, const model::Finding& veto,
                                       Effects& effects) {
  const std::string id = track.experiment.id;
  const model::Hypothesis& h = ideas_.at(track.experiment.hypothesis);
  const std::string reason =
      fmt::format("refuted decisively by {} before any fresh pair: {}", veto.check, veto.because);
  const std::vector<LoopEvent> all{
      Voted{id, veto},
      judged(h, id, VerdictKind::kRefuted, reason, track.judge.comparison(), effects.now())};
  TRY(effects.remember(kActor, all));
  effects.say(fmt::format("{}: '{}' is refuted: {}", h.family, h.title, reason));
  remove(id);
  return true;
}

Result<bool> Experiments::perform(const Advance& what, Effects& effects) {
  Track& track = tracks_.at(what.experiment);
  if (what.stage == Stage::kRefute) {
    const refute::Evidence known = evidence(what.experiment, false);
    const std::vector<model::Finding> votes = refute::ask_all(known);
    if (const auto veto = early_veto(votes)) return refute_early(track, *veto, effects);
    // Fresh pairs could not bring it to the gate.
    const bool better = state_of(track).answer == model::Answer::kBetter;
    if (better && !refute::beyond_pairs(votes, known).empty()) {
      return perform(AskPanel{what.experiment, promotion_level(state_)}, effects);
    }
  }
  const std::vector<LoopEvent> all{Staged{what.experiment, what.stage}};
  TRY(effects.remember(kActor, all));
  set_stage(track, what.stage);
  return true;
}

Result<bool> Experiments::perform(const OpenCampaign&, Effects& effects) {
  CampaignOpened opened;
  opened.seed = effects.fresh_seed();
  opened.id = fmt::format("c-{}", opened.seed.substr(0, 8));
  opened.campaign = state_.campaign;
  opened.campaign.promoted = 0;
  const std::vector<LoopEvent> all{opened};
  TRY(effects.remember(kActor, all));
  campaign_ = opened.id;
  seed_ = opened.seed;
  state_.campaign = opened.campaign;
  state_.campaign_open = true;
  state_.registered = 0;
  return true;
}

Result<bool> Experiments::perform(const Drop& what, Effects& effects) {
  const model::Hypothesis h = ideas_.at(what.hypothesis);
  const std::string reason =
      what.reason.empty()
          ? fmt::format(
                "expected return {:.2f} hours per hour of testing; at least {:.2f} is "
                "required",
                what.worth, state_.settings.worth_at_least)
          : what.reason;
  const std::vector<LoopEvent> all{dropped(h, reason, effects.now())};
  TRY(effects.remember(kActor, all));
  effects.say(fmt::format("{}: '{}' is dropped: {}", h.family, h.title, reason));
  unqueue(h.id);
  ideas_.erase(h.id);
  return true;
}

// Pre-registers: claim, sigma, delta, cap, seed and baseline are fixed here, before any pair.
Result<model::Experiment> Experiments::design(const model::Hypothesis& h, Nanos now) const {
  const Family& family = families_.at(h.family);
  model::Experiment e;
  e.id = experiment_id(h.id);
  e.hypothesis = h.id;
  e.family = h.family;
  e.campaign = campaign_;
  e.metric = family.record.spec.metric;
  e.lower_is_better = family.record.spec.lower_is_better;
  e.spec = field_digests(family.record.spec);
  e.spec.insert(family.record.ran_with.begin(), family.record.ran_with.end());
  // A patch runs on a commit of its own, whatever is committed meanwhile.
  if (!combine(family.record.baseline, h.change).patch.empty()) e.spec.erase(std::string(kSource));
  e.claim = -std::log1p(-std::clamp(h.predicted_gain, 0.0, 0.95));
  e.sigma = family.noise;
  e.delta = stats::kSmallestGain;
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

Result<bool> Experiments::perform(const Register& what, Effects& effects) {
  const model::Hypothesis& h = ideas_.at(what.hypothesis);
  const model::Experiment e = TRY(design(h, effects.now()));
  const std::vector<LoopEvent> all{Registered{e}, Staged{e.id, Stage::kCompare}};
  TRY(effects.remember(kActor, all));
  effects.say(
      fmt::format("{}: testing '{}' ({}); claimed saving {}, smallest saving that matters {}",
                  h.family, h.title, model::describe(h.change), show_percent(h.predicted_gain),
                  show_percent(1 - std::exp(-e.delta))));
  ++state_.registered;
  TRY(add(e, Stage::kCompare, {}));
  return true;
}

// What follows from the votes, given what there is to buy.
refute::Panel Experiments::outcome_of(const Track& track, const std::vector<model::Finding>& votes,
                                      const refute::Evidence& known, bool multiplicity_ok) const {
  using refute::Outcome;
  refute::Panel panel = refute::combine(votes, multiplicity_ok, known.topped_up);
  const bool buys = !missing(track, wanted(track, votes, known)).empty();
  // No pair can settle the doubt: do not ask for any.
  if (panel.outcome == Outcome::kTopUp && !buys) {
    panel = refute::combine(votes, multiplicity_ok, true);
  }
  // A soft refutation gets more rounds of pairs before it stands, and so does a silence.
  const bool vetoed = std::ranges::any_of(votes, &model::Finding::decisive);
  const bool open = panel.outcome == Outcome::kRefuted || panel.outcome == Outcome::kHold ||
                    !unsettled(track, votes, known).empty();
  if (open && !vetoed && multiplicity_ok && !once_more(track, votes, known).empty()) {
    panel = refute::combine(votes, multiplicity_ok, false);
    if (panel.outcome == Outcome::kSurvives) panel.outcome = Outcome::kTopUp;
  }
  // Nothing that is bought could promote it.
  if (const auto beyond = refute::beyond_pairs(votes, known);
      panel.outcome == Outcome::kTopUp && !beyond.empty()) {
    panel.outcome = Outcome::kHold;
    panel.because += fmt::format(", but no pair can answer {}", join(beyond, ", "));
  }
  // The campaign could not promote it now: hold it before more is spent.
  if (panel.outcome == Outcome::kTopUp && !multiplicity_ok) {
    panel.outcome = Outcome::kHold;
    panel.because += ", once E is near the campaign's threshold";
  }
  if (panel.outcome == Outcome::kSurvives && buys) panel.outcome = Outcome::kTopUp;
  return panel;
}

// All checks vote; the votes and what follows are remembered together.
Result<bool> Experiments::perform(const AskPanel& ask, Effects& effects) {
  Track& track = tracks_.at(ask.experiment);
  const bool topped_up = state_of(track).stage == Stage::kTopUp || !track.bought.empty();
  const refute::Evidence known = evidence(ask.experiment, topped_up);
  const std::vector<model::Finding> votes = refute::ask_all(known);
  const bool multiplicity_ok = known.comparison.log_e_win >= ask.log_level;
  const refute::Panel panel = outcome_of(track, votes, known, multiplicity_ok);
  const model::Hypothesis& h = ideas_.at(track.experiment.hypothesis);
  std::vector<LoopEvent> all;
  for (const model::Finding& vote : votes) all.push_back(Voted{ask.experiment, vote});
  all.push_back(Compared{ask.experiment, known.comparison});
  std::optional<Stage> onward;
  switch (panel.outcome) {
    case refute::Outcome::kRefuted:
      all.push_back(judged(h, ask.experiment, VerdictKind::kRefuted, panel.because,
                           known.comparison, effects.now()));
      break;
    case refute::Outcome::kTopUp:
      onward = Stage::kTopUp;
      break;
    case refute::Outcome::kHold:
      onward = Stage::kHold;
      break;
    case refute::Outcome::kSurvives:
      all.push_back(GateOpened{ask.experiment, known.comparison, votes, refute::holds_for(known)});
      onward = Stage::kGate;
      break;
  }
  if (onward) all.push_back(Staged{ask.experiment, *onward});
  TRY(effects.remember(kActor, all));
  effects.say(fmt::format("{}: '{}' {} ({}): {}", h.family, h.title, outcome_words(panel.outcome),
                          tally_of(votes), panel.because));
  track.votes = votes;
  track.compared = known.comparison;
  if (onward) {
    const std::map<std::string, int> more = once_more(track, votes, known);
    set_stage(track, *onward);
    if (onward == Stage::kTopUp && state_of(track).top_up_missing.empty()) {
      state_of(track).top_up_missing = more;
      for (const auto& [check, pairs] : more) track.wanted[check] = track.bought[check] + pairs;
    }
  } else {
    remove(ask.experiment);
  }
  return true;
}

}  // namespace amdahl::loop
