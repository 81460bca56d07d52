#include "app/propose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/agent_door.h"
#include "app/calibration.h"
#include "app/change_key.h"
#include "app/effects.h"
#include "app/patches.h"
#include "app/snapshot.h"
#include "base/shown.h"
#include "base/text.h"
#include "hypothesize/playbook.h"
#include "hypothesize/propose.h"
#include "loop/verdict.h"
#include "model/codec.h"
#include "model/plan.h"
#include "observe/fixes.h"
#include "os/files.h"
#include "os/host.h"
#include "profile/ceiling.h"

namespace amdahl::app {
namespace {

// A claim is another one if what it predicts differs by more than this share of the earlier.
constexpr double kMaterial = 0.25;
// Tests of one idea that infrastructure may end on one baseline before it is left alone.
constexpr int kMostAborts = 3;
// Of a hypothesis; what is older is not looked at.
constexpr int kMostEvents = 200;

// Whether the family's baseline is another than the one the verdict was reached on.
Result<bool> baseline_moved(Context& context, const ledger::Family& family,
                            const model::Verdict& verdict) {
  if (!verdict.experiment.empty()) {
    const ledger::ExperimentRow row = TRY(context.ledger->experiment(verdict.experiment));
    return row.experiment.baseline != digest(TRY(make_plan(family.spec, family.baseline)));
  }
  for (const std::string& id : family.stack) {
    if (TRY(context.ledger->hypothesis(id)).since > verdict.at) return true;
  }
  return false;
}

// Whether the same claim was made before and came to its end. The store lets the key return,
// because the change may deserve another claim; the same claim would only repeat the same test.
Result<bool> same_claim(Context& context, const ledger::Family& family,
                        const ledger::HypothesisRow& past, const model::Hypothesis& idea) {
  // Infrastructure ended it, a person asked for another try, or what ended it was too weak to last.
  if (past.state == "aborted" || past.state == "reopened" || past.state == "parked") return false;
  const auto verdict = TRY(context.ledger->verdict(past.hypothesis.id));
  if (!verdict) return false;
  // A profile that did not carry it withdrew it untested; the next may.
  if (past.state == "invalid" && verdict->experiment.empty()) return false;
  // The same lines found again are no other claim, whatever they seem to cost this time.
  if (idea.origin.kind == kFromCode && past.state != "dropped") return true;
  const double before = past.hypothesis.predicted_gain;
  if (std::abs(idea.predicted_gain - before) > kMaterial * before) return false;
  return !TRY(baseline_moved(context, family, *verdict));
}

// The earlier hypothesis that blocks an idea although no row holds its key. `past`: the rows with
// the same effect.
Result<std::optional<ledger::HypothesisRow>> earlier_claim(
    Context& context, const std::vector<ledger::HypothesisRow>& past,
    const model::Hypothesis& idea) {
  if (past.empty()) return std::optional<ledger::HypothesisRow>{};
  const ledger::Family family = TRY(context.ledger->family(idea.family));
  int aborts = 0;
  for (const ledger::HypothesisRow& row : past) {
    if (TRY(same_claim(context, family, row, idea))) return std::optional(row);
    const auto verdict = TRY(context.ledger->verdict(row.hypothesis.id));
    if (row.state != "aborted" || !verdict || verdict->experiment.empty()) continue;
    if (TRY(baseline_moved(context, family, *verdict))) continue;
    if (++aborts >= kMostAborts) return std::optional(row);
  }
  return std::optional<ledger::HypothesisRow>{};
}

// The event that an idea came up again after its verdict, with the cost of that verdict. Nothing if
// the idea is promoted (no test is left), if the verdict cost no pair, or if this source already
// asked with the same profile.
Result<std::vector<ledger::Draft>> known_again(Context& context,
                                               const ledger::HypothesisRow& holder,
                                               const model::Hypothesis& idea,
                                               const std::string& actor) {
  std::vector<ledger::Draft> drafts;
  if (holder.state == "live" || holder.state == "promoted") return drafts;
  const std::string& id = holder.hypothesis.id;
  const auto verdict = TRY(context.ledger->verdict(id));
  if (!verdict || verdict->experiment.empty()) return drafts;
  const std::string asked = fmt::format("{} {}", idea.origin.kind, idea.profile);
  for (const ledger::Event& event : TRY(context.ledger->events(id, 0, kMostEvents))) {
    if (event.kind == "hypothesis.known" && event.payload.at("asked") == asked) return drafts;
  }
  int pairs = 0;
  double cost = 0;
  for (const model::Pair& pair : TRY(context.ledger->runs_of(verdict->experiment))) {
    pairs += pair.fact ? 1 : 0;
    cost += pair.spent_accelerator_s;
  }
  if (pairs == 0) return drafts;
  drafts.push_back({"hypothesis.known",
                    actor,
                    id,
                    {{"asked", asked}, {"pairs", pairs}, {"accelerator_s", cost}}});
  return drafts;
}

// An idea may come again after an abort or with another claim: the row needs a name of its own.
Result<std::string> free_id(Context& context, const std::string& wanted) {
  std::string id = wanted;
  for (int n = 2;; ++n) {
    const auto taken = context.ledger->hypothesis(id);
    if (!taken && taken.error().kind == Error::Kind::kNotFound) return id;
    if (!taken) return taken.error();
    if (taken->hypothesis.id != id) return id;  // Only a longer name starts like this.
    id = fmt::format("{}-{}", wanted, n);
  }
}

Result<std::set<std::string>> hypotheses_under_test(Context& context) {
  std::set<std::string> ids;
  for (const ledger::ExperimentRow& row : TRY(context.ledger->live_experiments())) {
    ids.insert(row.experiment.hypothesis);
  }
  return ids;
}

// Whether the hypothesis was parked, and now goes on because somebody asked for it.
Result<bool> resume(Context& context, const model::Hypothesis& h, const std::string& actor) {
  const Snapshot snapshot = TRY(take_snapshot(context, {.family = h.family}));
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    if (x.hypothesis != h.id || !x.parked) continue;
    const int pairs = std::max(1, x.compare_ratios);
    TRY(note(
        context,
        {"experiment.resumed", actor, x.id, {{"pairs", pairs}, {"reason", "proposed again"}}}));
    return true;
  }
  return false;
}

bool is_of_profile(const model::Hypothesis& h) {
  return h.origin.kind == "playbook" || h.origin.kind == kFromCode;
}

// Ideas that were aborted because the baseline moved, and that no profile would propose again. They
// are tried on the new baseline.
Result<std::vector<model::Hypothesis>> interrupted(Context& context, const ledger::Family& family,
                                                   const model::Profile& profile) {
  std::vector<model::Hypothesis> ideas;
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(family.name, "aborted"))) {
    const auto verdict = TRY(context.ledger->verdict(row.hypothesis.id));
    if (is_of_profile(row.hypothesis) || !verdict || verdict->experiment.empty()) continue;
    if (!TRY(baseline_moved(context, family, *verdict))) continue;
    ideas.push_back(row.hypothesis);
    ideas.back().profile = profile.id;
  }
  return ideas;
}

// One that still waits goes by the newest profile: its share grew or fell with the rest.
void revise(const ledger::HypothesisRow& holder, const model::Hypothesis& idea,
            const std::set<std::string>& under_test, ProposeOutcome& outcome) {
  const model::Hypothesis& old = holder.hypothesis;
  const bool same = old.predicted_gain == idea.predicted_gain && old.prior == idea.prior &&
                    old.ceiling_share == idea.ceiling_share;
  if (same || under_test.contains(old.id)) return;
  outcome.drafts.push_back({"hypothesis.revised",
                            "cycle",
                            old.id,
                            {{"predicted_gain", idea.predicted_gain},
                             {"ceiling_share", idea.ceiling_share},
                             {"prior", idea.prior},
                             {"profile", idea.profile}}});
}

// Queued hypotheses that came from a profile and that the new one does not bring again.
Result<> withdraw(Context& context, const ledger::Family& family,
                  const std::vector<model::Hypothesis>& still, ProposeOutcome& outcome) {
  const std::set<std::string> under_test = TRY(hypotheses_under_test(context));
  std::vector<model::Hypothesis> waiting;
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(family.name, "live"))) {
    const model::Hypothesis& h = row.hypothesis;
    if (is_of_profile(h) && !under_test.contains(h.id)) waiting.push_back(h);
  }
  for (const loop::Judged& judged : loop::withdrawn(waiting, still, context.clock->unix_time())) {
    outcome.drafts.push_back(draft_of(judged, loop::kActor));
    outcome.withdrawn.push_back(judged.verdict.hypothesis);
  }
  return Ok{};
}

// A fix that is not there would cost a pair to find out.
Result<> check_fixes(const model::Change& change) {
  const std::vector<std::string> names = observe::fix_names();
  for (const auto& [fix, value] : change.inject) {
    if (observe::is_ceiling(fix)) {
      return bad_input(
          fmt::format("'{}' removes a cause from a job to measure it, and can never be promoted; "
                      "type: amdahl profile --measure {} -- CMD",
                      fix, fix.substr(fix.find('-') + 1)));
    }
    if (std::ranges::find(names, fix) != names.end()) continue;
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto near = did_you_mean(fix, known);
    return bad_input(fmt::format("there is no fix '{}'{}", fix,
                                 near ? fmt::format("; did you mean '{}'?", *near)
                                      : fmt::format(", there are {}", join(names, ", "))));
  }
  return Ok{};
}

// Ties the claim to a cause of the family's profile: what the cause does not explain, a change
// that acts on it cannot save.
Result<> act_on(const ledger::Family& family, const std::string& name, model::Hypothesis& h) {
  if (!family.profile) {
    return bad_input(fmt::format("cause {}: {} has no profile yet; type: amdahl profile {}", name,
                                 family.name, family.name));
  }
  std::vector<std::string> names;
  for (const model::Cause& cause : family.profile->causes) {
    names.emplace_back(model::name(cause.bottleneck));
    if (names.back() != name) continue;
    const double most = std::max(cause.share, profile::share_of(cause.ceiling));
    if (h.predicted_gain > most) {
      return bad_input(fmt::format(
          "a gain of {:.3g} %: '{}' explains {} of the cost at most, and no more can be "
          "saved by acting on it",
          100 * h.predicted_gain, name, show_percent(most)));
    }
    h.bottleneck = cause.bottleneck;
    h.ceiling_share = most;
    return Ok{};
  }
  // Work that gets cheaper is no waste that a profile could show, and has no ceiling but the job.
  if (name == model::name(model::Bottleneck::kCompute)) {
    h.bottleneck = model::Bottleneck::kCompute;
    return Ok{};
  }
  names.emplace_back(model::name(model::Bottleneck::kCompute));
  return bad_input(fmt::format("cause {}: the latest profile of {} has no such cause; it has: {}",
                               name, family.name, join(names, ", ")));
}

}  // namespace

Result<std::vector<hypothesize::Entry>> usable_playbook() {
  std::vector<hypothesize::Entry> playbook = TRY(hypothesize::embedded_playbook());
  std::erase_if(playbook, [](const hypothesize::Entry& entry) {
    return !std::ranges::all_of(entry.needs, os::can_use);
  });
  return playbook;
}

Result<ProposeOutcome> admit(Context& context, std::vector<model::Hypothesis> ideas,
                             const std::string& actor, std::size_t at_most) {
  ProposeOutcome outcome;
  std::set<std::string> seen;
  const std::set<std::string> under_test = TRY(hypotheses_under_test(context));
  const hypothesize::Priors learnt = TRY(learnt_priors(context));
  for (model::Hypothesis& idea : ideas) {
    if (!seen.insert(idea.key).second) continue;
    idea.prior = learnt.chance_of(idea);
    const std::vector<ledger::HypothesisRow> past = TRY(same_effect(context, idea));
    const auto holder = TRY(holder_of(context, past));
    if (holder) {
      ++outcome.known[holder->state];
      // Who proposed it knows its chances best: a dream must not take those of an entry down.
      const bool same_source = holder->hypothesis.origin.kind == idea.origin.kind;
      if (holder->state == "live" && same_source) revise(*holder, idea, under_test, outcome);
      std::ranges::move(TRY(known_again(context, *holder, idea, actor)),
                        std::back_inserter(outcome.drafts));
      continue;
    }
    if (const auto earlier = TRY(earlier_claim(context, past, idea))) {
      ++outcome.known[earlier->state];
      continue;
    }
    if (outcome.fresh.size() >= at_most) continue;
    idea.id = TRY(free_id(context, idea.id));
    outcome.drafts.push_back({"hypothesis.proposed", actor, idea.id, encode(idea)});
    outcome.fresh.push_back(std::move(idea));
  }
  return outcome;
}

Result<ProposeOutcome> propose_from(Context& context, const ledger::Family& family,
                                    const model::Profile& profile,
                                    std::span<const profile::Finding> findings) {
  const std::vector<hypothesize::Entry> playbook = TRY(usable_playbook());
  hypothesize::Proposals proposals = hypothesize::propose(
      family.spec, family.baseline, profile, playbook, context.hardware_for(family.name),
      {.min_gain = context.config.min_gain});
  PatchIdeas patches = ideas_from(family, profile, findings, context.hardware_for(family.name),
                                  context.config.min_gain);
  std::ranges::move(patches.ideas, std::back_inserter(proposals.ranked));
  std::ranges::stable_sort(proposals.ranked, std::ranges::greater{},
                           [](const auto& h) { return h.prior * h.predicted_gain; });
  proposals.ranked = keyed_by_effect(context, family, std::move(proposals.ranked));
  std::ranges::move(keyed_by_effect(context, family, TRY(interrupted(context, family, profile))),
                    std::back_inserter(proposals.ranked));
  ProposeOutcome withdrawn;
  TRY(withdraw(context, family, proposals.ranked, withdrawn));
  ProposeOutcome outcome = TRY(admit(context, std::move(proposals.ranked), "cycle",
                                     static_cast<std::size_t>(context.config.queue)));
  outcome.drafts.insert(outcome.drafts.begin(), withdrawn.drafts.begin(), withdrawn.drafts.end());
  outcome.withdrawn = std::move(withdrawn.withdrawn);
  outcome.untestable = std::move(patches.untestable);
  return outcome;
}

std::string describe_known(const std::map<std::string, int>& known) {
  int total = 0;
  std::string by_state;
  for (const auto& [state, count] : known) {
    if (state == "live") continue;  // Already in the queue: nothing to retry.
    total += count;
    by_state += fmt::format("{}{} {}", by_state.empty() ? "" : ", ", count, state);
  }
  if (total == 0) return "";
  return fmt::format("{} idea{} came up again and {} not retried: {}", total, total == 1 ? "" : "s",
                     total == 1 ? "is" : "are", by_state);
}

Result<model::Hypothesis> draft_idea(Context& context, const std::string& family_name,
                                     const Idea& idea) {
  const ledger::Family family = TRY(need_family(context, family_name));
  TRY(check_fixes(idea.change));
  if (idea.from == "agent") TRY(check_agents_change(context, family, idea.change));
  model::Hypothesis h =
      TRY(hypothesize::from_change(family.spec, family.baseline, idea.change,
                                   {idea.from, idea.actor}, context.hardware_for(family.name)));
  if (!idea.title.empty()) h.title = on_one_line(idea.title);
  if (!idea.mechanism.empty()) h.mechanism = on_one_line(idea.mechanism);
  if (idea.gain > 0) h.predicted_gain = idea.gain;
  if (family.profile) h.profile = family.profile->id;
  if (!idea.cause.empty()) TRY(act_on(family, idea.cause, h));
  TRY(key_by_effect(context, family, h));
  if (idea.from != "agent") return h;
  if (const auto part = TRY(refuted_part_of(context, h))) {
    return bad_input(fmt::format("it contains {} ({}), which was refuted: propose the rest alone",
                                 part->hypothesis.id, part->hypothesis.title));
  }
  return h;
}

Result<model::Hypothesis> propose_change(Context& context, const std::string& family,
                                         const Idea& idea) {
  model::Hypothesis h = TRY(draft_idea(context, family, idea));
  std::vector<ledger::HypothesisRow> past = TRY(same_effect(context, h));
  const auto holder = TRY(holder_of(context, past));
  if (holder && holder->state == "live") {
    if (TRY(resume(context, holder->hypothesis, idea.actor))) return holder->hypothesis;
    return Error{
        Error::Kind::kConflict,
        fmt::format("{} is this idea ({}) and live: the loop tests it; type: amdahl ledger "
                    "show {}",
                    holder->hypothesis.id, holder->hypothesis.title, holder->hypothesis.id)};
  }
  if (holder) {
    for (ledger::Draft& draft : TRY(known_again(context, *holder, h, idea.actor))) {
      TRY(note(context, std::move(draft)));
    }
    return Error{Error::Kind::kConflict,
                 fmt::format("{} already holds this idea: {} ({}); it is not tried again. A person "
                             "may reopen it: amdahl ledger reopen {} --reason TEXT",
                             holder->hypothesis.id, holder->state, holder->hypothesis.title,
                             holder->hypothesis.id)};
  }
  // Its campaign ended before it had an answer: who asks for it gets one.
  std::erase_if(
      past, [](const auto& row) { return row.state == "inconclusive" || row.state == "aborted"; });
  if (const auto earlier = TRY(earlier_claim(context, past, h))) {
    const double gain_before = 100 * earlier->hypothesis.predicted_gain;
    return Error{Error::Kind::kConflict,
                 fmt::format("{} ended {} with the same claim ({} saved) on the same baseline; it "
                             "returns with another claim: --gain below {:.3g} or above {:.3g}",
                             earlier->hypothesis.id, earlier->state,
                             show_percent(earlier->hypothesis.predicted_gain),
                             (1 - kMaterial) * gain_before, (1 + kMaterial) * gain_before)};
  }
  h.prior = TRY(learnt_priors(context)).chance_of(h);
  h.id = TRY(free_id(context, h.id));
  TRY(note(context, {"hypothesis.proposed", idea.actor, h.id, encode(h)}));
  return h;
}

Result<model::Change> parse_change(const ChangeWords& words) {
  model::Change change;
  const auto cut =
      [](const std::string& word) -> std::pair<std::string, std::optional<std::string>> {
    const auto equals = word.find('=');
    if (equals == word.npos) return {word, std::nullopt};
    return {word.substr(0, equals), word.substr(equals + 1)};
  };
  // Which of two would win is not for us to choose.
  const auto once = [](bool is_new, std::string_view option, const std::string& word) -> Result<> {
    if (is_new) return Ok{};
    return bad_input(fmt::format("{} {} sets a setting for the second time", option, word));
  };
  for (const std::string& word : words.env) {
    TRY(once(change.env.insert(cut(word)).second, "--env", word));
  }
  for (const std::string& word : words.args) {
    const auto [flag, value] = cut(word);
    TRY(once(change.args.emplace(flag, value.value_or("")).second, "--arg", word));
  }
  for (const std::string& word : words.config) {
    const auto [place, value] = cut(word);
    if (!value || place.find('#') == place.npos) {
      return bad_input(
          fmt::format("--set must be FILE#KEY=VALUE (job.yaml#train.batch=32), not '{}'", word));
    }
    TRY(once(change.config.emplace(place, *value).second, "--set", word));
  }
  for (const std::string& word : words.inject) {
    const auto [fix, value] = cut(word);
    TRY(once(change.inject.emplace(fix, value.value_or("")).second, "--inject", word));
  }
  if (words.accelerators > 0) change.accelerators = words.accelerators;
  if (!words.patch_file.empty()) change.patch = TRY(os::read_file(words.patch_file));
  if (is_empty(change)) {
    return bad_input(
        "propose needs a change: --env NAME=VALUE, --arg FLAG=VALUE, --set FILE#KEY=VALUE, "
        "--accelerators N, --inject FIX=VALUE or --patch FILE");
  }
  return change;
}

Result<bool> is_under_test(Context& context, const std::string& hypothesis) {
  const std::vector<ledger::ExperimentRow> live = TRY(context.ledger->live_experiments());
  return std::ranges::any_of(live, [&](const ledger::ExperimentRow& row) {
    return row.experiment.hypothesis == hypothesis;
  });
}

}  // namespace amdahl::app
