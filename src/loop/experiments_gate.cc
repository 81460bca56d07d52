// What people, and policies in their name, decide: promotion, rollback, another try.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "loop/experiments.h"
#include "loop/verdict.h"
#include "model/plan.h"

namespace amdahl::loop {
namespace {

using model::VerdictKind;

Error conflict(std::string text) { return {Error::Kind::kConflict, std::move(text)}; }

Result<> need_name_and_reason(std::string_view what, const std::string& actor,
                              const std::string& reason) {
  if (trim(reason).empty()) return bad_input(fmt::format("{} needs a reason", what));
  if (trim(actor).empty()) return bad_input(fmt::format("{} needs a name", what));
  return Ok{};
}

}  // namespace

// The campaign's threshold falls with each promotion. A later rollback does not raise it again.
Result<> Experiments::decide(const std::string& id, const model::GateDecision& decision,
                             Effects& effects) {
  TRY(need_name_and_reason("a decision", decision.actor, decision.reason));
  const auto it = tracks_.find(id);
  if (it == tracks_.end() || state_of(it->second).stage != model::Stage::kGate) {
    return conflict(fmt::format("{} is not waiting at the gate", id));
  }
  const Track& track = it->second;
  const model::Hypothesis h = ideas_.at(track.experiment.hypothesis);
  Family& family = families_.at(h.family);
  // The comparison that the person saw, without later pairs.
  const model::Comparison comparison = track.compared.value_or(track.judge.comparison());
  const VerdictKind kind = decision.approved ? VerdictKind::kPromoted : VerdictKind::kDeclined;
  std::vector<LoopEvent> all{
      GateDecided{id, decision},
      judged(h, id, kind, fmt::format("{}: {}", decision.actor, decision.reason), comparison,
             effects.now())};
  if (!decision.approved) {
    TRY(effects.remember(decision.actor, all));
    remove(id);
    return Ok{};
  }
  if (const std::string& changed = state_of(track).spec_changed; !changed.empty()) {
    return conflict(
        fmt::format("{} was registered under an older spec of {} ({} changed); reject it with "
                    "--reason, then it can be proposed again",
                    h.id, h.family, changed));
  }
  if (state_of(track).baseline_moved) {
    return conflict(
        fmt::format("{} was measured on an older baseline of {}; reject it with --reason, then it "
                    "can be proposed again",
                    h.id, h.family));
  }
  const double level = promotion_level(state_);
  if (comparison.log_e_win < level) {
    return conflict(fmt::format(
        "{} has E {:.0f}; E {:.0f} is required after {} promotions of its campaign; the threshold "
        "falls with each promotion",
        h.id, std::exp(comparison.log_e_win), std::exp(level), state_.campaign.promoted));
  }
  std::vector<Promoted> stack = family.record.stack;
  stack.push_back({h.id, h.change});
  const model::Change before = family.record.baseline;
  const model::Change after = combine(before, h.change);
  const std::string plan = digest(TRY(make_plan(family.record.spec, after)));
  all.push_back(BaselineMoved{h.family, h.id, after});
  all.push_back(SavingBooked{h.family, h.id, -std::expm1(-comparison.shrunk)});
  all.push_back(WatchBegan{h.family, id, h.id, comparison.shrunk, before, after});
  TRY(effects.remember(decision.actor, all));
  remove(id);
  ++state_.campaign.promoted;
  set_baseline(family, std::move(stack), after, plan);
  return Ok{};
}

Result<> Experiments::roll_back(const std::string& family_name, const std::string& hypothesis,
                                const std::string& actor, const std::string& reason,
                                Effects& effects) {
  TRY(need_name_and_reason("a rollback", actor, reason));
  Family& family = families_.at(family_name);
  std::vector<Promoted> stack = family.record.stack;
  if (std::erase_if(stack, [&](const Promoted& p) { return p.hypothesis == hypothesis; }) == 0) {
    return conflict(fmt::format("{} is not in the stack of {}", hypothesis, family_name));
  }
  model::Change baseline;
  for (const Promoted& promoted : stack) baseline = combine(baseline, promoted.change);
  const std::vector<LoopEvent> all{RolledBack{family_name, hypothesis, baseline, reason}};
  const std::string plan = digest(TRY(make_plan(family.record.spec, baseline)));
  TRY(effects.remember(actor, all));
  set_baseline(family, std::move(stack), baseline, plan);
  return Ok{};
}

Result<> Experiments::reopen(const Closed& closed, const std::string& actor,
                             const std::string& reason, Effects& effects) {
  TRY(need_name_and_reason("reopening", actor, reason));
  const model::Hypothesis& h = closed.hypothesis;
  if (!blocks_retry(closed.verdict)) {
    return conflict(fmt::format("{} is {}: it can be proposed again without reopening", h.id,
                                name(closed.verdict)));
  }
  const auto family = families_.find(h.family);
  if (family != families_.end() &&
      std::ranges::find(family->second.record.stack, h.id, &Promoted::hypothesis) !=
          family->second.record.stack.end()) {
    return conflict(
        fmt::format("{} is in the stack of {}; roll it back first: amdahl gate rollback "
                    "{} --reason TEXT",
                    h.id, h.family, h.id));
  }
  const std::vector<LoopEvent> all{Reopened{h.id, reason}};
  return effects.remember(actor, all);
}

// Experiments on the old baseline can only be aborted.
void Experiments::set_baseline(Family& family, std::vector<Promoted> stack, model::Change baseline,
                               std::string plan) {
  family.record.stack = std::move(stack);
  family.record.baseline = std::move(baseline);
  family.digest = std::move(plan);
  for (const std::string& id : family.live) refresh(tracks_.at(id));
}

}  // namespace amdahl::loop
