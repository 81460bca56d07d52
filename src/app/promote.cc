#include "app/promote.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/artefact.h"
#include "app/effects.h"
#include "app/overlay.h"
#include "app/snapshot.h"
#include "base/count.h"
#include "base/text.h"
#include "ledger/event.h"
#include "model/plan.h"

namespace amdahl::app {
namespace {

const Say kSilent;

using model::GateDecision;
using model::GatePacket;

std::optional<GateDecision> demo_policy(const GatePacket& packet) {
  if (!(packet.comparison.lower > 0)) return std::nullopt;
  return GateDecision{true, "policy:demo",
                      fmt::format("the panel let it pass and the interval of {} is above 0",
                                  counted(packet.comparison.pairs, "pair"))};
}

std::optional<GateDecision> tune_policy(const GatePacket& packet) {
  if (!(packet.comparison.lower > 0)) return std::nullopt;
  return GateDecision{
      true, "policy:tune",
      fmt::format("amdahl tune promotes what the panel lets pass; the interval of {} is above 0",
                  counted(packet.comparison.pairs, "pair"))};
}

constexpr auto kPolicies = std::to_array<GatePolicy>({
    {"demo",
     "approves what survived the panel if its whole interval is a saving, and rolls back what a "
     "canary proposes to",
     demo_policy, true},
    {"tune", "the same, for amdahl tune", tune_policy, true},
});

std::string show_saving(double log_effect) { return show_percent(1 - std::exp(-log_effect)); }

// The change as lines a person reviews: what the job runs now, and with it.
std::string diff_of(const model::Plan& before, const model::Plan& after) {
  std::string text = fmt::format("- {}\n+ {}\n", shell_quote(before.argv), shell_quote(after.argv));
  if (before.argv == after.argv) text.clear();
  for (const auto& [name, value] : after.env) {
    const auto old = before.env.find(name);
    if (old != before.env.end() && old->second == value) continue;
    if (old != before.env.end()) text += fmt::format("- {}={}\n", name, old->second);
    text += fmt::format("+ {}={}\n", name, value);
  }
  for (const std::string& name : after.unset) {
    if (std::ranges::find(before.unset, name) == before.unset.end()) {
      text += fmt::format("- {} (unset)\n", name);
    }
  }
  if (before.accelerators != after.accelerators) {
    text += fmt::format("- {}\n+ {}\n", counted(before.accelerators, "accelerator"),
                        counted(after.accelerators, "accelerator"));
  }
  for (const auto& [place, value] : after.config) {
    const auto old = before.config.find(place);
    if (old != before.config.end() && old->second == value) continue;
    if (old != before.config.end()) text += fmt::format("- {} = {}\n", place, old->second);
    text += fmt::format("+ {} = {}\n", place, value);
  }
  // Patches are stacked one after the other: only what comes on top is new.
  std::string_view patch = after.patch;
  if (patch.starts_with(before.patch)) patch.remove_prefix(before.patch.size());
  return text.append(patch);
}

}  // namespace

Result<const GatePolicy*> gate_policy(std::string_view name) {
  if (name.empty()) return static_cast<const GatePolicy*>(nullptr);
  const auto row = std::ranges::find(kPolicies, name, &GatePolicy::name);
  if (row != kPolicies.end()) return &*row;
  std::string known;
  for (const GatePolicy& policy : kPolicies) known += fmt::format(" {}", policy.name);
  return bad_input(fmt::format("unknown gate policy '{}'; known:{}", name, known));
}

Result<GatePacket> make_packet(Context& context, const ledger::Family& family,
                               const model::Experiment& experiment,
                               const model::Hypothesis& hypothesis,
                               const model::Comparison& comparison,
                               std::vector<model::Finding> votes) {
  GatePacket packet;
  packet.experiment = experiment.id;
  packet.hypothesis = hypothesis.id;
  packet.family = family.name;
  packet.comparison = comparison;
  packet.votes = std::move(votes);
  packet.claim = fmt::format(
      "{} ({}) saves {} of {}'s accelerator time for the same number of {}, between {} and {} (95 "
      "%, {}); shrunk for having been selected, {}",
      hypothesis.title, describe(hypothesis.change), show_saving(comparison.effect), family.name,
      family.spec.work_unit, show_saving(comparison.lower), show_saving(comparison.upper),
      counted(comparison.pairs, "pair"), show_saving(comparison.shrunk));
  const model::Plan before = TRY(make_plan(family.spec, experiment.baseline_change));
  const model::Plan after =
      TRY(make_plan(family.spec, combine(experiment.baseline_change, hypothesis.change)));
  packet.diff = diff_of(before, after);
  for (const model::Pair& run : TRY(context.ledger->runs_of(experiment.id))) {
    packet.spent_accelerator_s += run.spent_accelerator_s;
  }
  packet.saves_accelerator_h_per_day =
      family.volume_accelerator_h_per_day * (1 - std::exp(-comparison.shrunk));
  packet.rollback = fmt::format("amdahl gate rollback {} --reason TEXT", hypothesis.id);
  return packet;
}

Result<GateList> read_gate(Context& context, int newest) {
  GateList list{TRY(newest > 0 ? context.ledger->newest_gates(newest) : context.ledger->gate("")),
                TRY(context.ledger->canaries_in(model::CanaryState::kRollbackProposed))};
  if (newest == 0) return list;
  std::set<std::string> listed;
  for (const ledger::GateRow& row : list.rows) listed.insert(row.packet.experiment);
  std::vector<ledger::GateRow> older = TRY(context.ledger->gate("pending"));
  std::erase_if(older, [&](const auto& row) { return listed.contains(row.packet.experiment); });
  list.rows.insert(list.rows.begin(), older.begin(), older.end());
  return list;
}

namespace {

// By whole ids, without a look at all that was ever decided.
Result<std::optional<ledger::GateRow>> gate_named(Context& context, const std::string& id) {
  if (auto row = TRY(context.ledger->gate_at(id))) return row;
  for (const ledger::GateRow& row : TRY(context.ledger->gate("pending"))) {
    if (row.packet.hypothesis == id) return std::optional(row);
  }
  const auto verdict = TRY(context.ledger->verdict(id));
  if (!verdict) return std::optional<ledger::GateRow>{};
  return context.ledger->gate_at(verdict->experiment);
}

}  // namespace

Result<ledger::GateRow> find_gate(Context& context, const std::string& id) {
  if (trim(id).empty()) {
    return bad_input("name what to decide on by its id; type: amdahl gate list");
  }
  if (const auto named = TRY(gate_named(context, id))) return *named;
  std::vector<ledger::GateRow> found;
  std::string pending;
  for (const ledger::GateRow& row : TRY(context.ledger->gate(""))) {
    const GatePacket& p = row.packet;
    if (p.experiment.starts_with(id) || p.hypothesis.starts_with(id)) found.push_back(row);
    if (row.state == "pending") pending += fmt::format(" {}", p.hypothesis);
  }
  if (found.size() == 1) return found.front();
  return Error{Error::Kind::kNotFound,
               fmt::format("{} at the gate is called '{}'; pending:{}; type: amdahl gate list",
                           found.empty() ? "nothing" : "more than one thing", id,
                           pending.empty() ? " nothing" : pending)};
}

Result<std::string> decide(Context& context, const ledger::GateRow& gate,
                           const GateDecision& decision, std::int64_t fence) {
  const GatePacket& packet = gate.packet;
  if (trim(decision.reason).empty()) {
    return bad_input(fmt::format("a decision needs a reason: amdahl gate {} {} --reason TEXT",
                                 decision.approved ? "approve" : "reject", packet.hypothesis));
  }
  if (trim(decision.actor).empty()) return bad_input("a decision needs a name: --as NAME");
  if (gate.state != "pending") {
    return Error{Error::Kind::kConflict, fmt::format("{} was already {} by {}", packet.hypothesis,
                                                     gate.state, gate.decision.actor)};
  }
  TRY(need_family(context, packet.family));
  Snapshot snapshot = TRY(take_snapshot(context, {.family = packet.family}));
  LedgerEffects effects(context, snapshot, fence, kSilent);
  GateDecision of_packet = decision;
  of_packet.packet = gate.digest;
  TRY(snapshot.experiments.decide(packet.experiment, of_packet, effects));
  if (!decision.approved) return fmt::format("declined {}", packet.hypothesis);
  const ledger::HypothesisRow row = TRY(context.ledger->hypothesis(packet.hypothesis));
  const std::string overlay = TRY(write_overlay(context, packet.family));
  const std::string deployed = deploy(context, gate, of_packet, overlay);
  return fmt::format("promoted {}: {}; the stack of {} is in {}{}{}", row.hypothesis.id,
                     describe(row.hypothesis.change), packet.family, overlay,
                     deployed.empty() ? "" : "; ", deployed);
}

Result<std::string> roll_back(Context& context, const std::string& hypothesis,
                              const std::string& actor, const std::string& reason,
                              std::int64_t fence) {
  if (trim(reason).empty()) {
    return bad_input(fmt::format("a rollback needs a reason: amdahl gate rollback {} --reason TEXT",
                                 hypothesis));
  }
  const model::Hypothesis h = TRY(context.ledger->hypothesis(hypothesis)).hypothesis;
  TRY(need_family(context, h.family));
  Snapshot snapshot = TRY(take_snapshot(context, {.family = h.family}));
  LedgerEffects effects(context, snapshot, fence, kSilent);
  TRY(snapshot.experiments.roll_back(h.family, h.id, actor, reason, effects));
  const std::string overlay = TRY(write_overlay(context, h.family));
  const std::string deployed = deploy_rollback(context, h, actor, reason, overlay);
  return fmt::format("took {} out of the stack of {}: {}{}{}", h.id, h.family, overlay,
                     deployed.empty() ? "" : "; ", deployed);
}

Result<> reopen(Context& context, const ledger::HypothesisRow& row, const std::string& actor,
                const std::string& reason) {
  const model::Hypothesis& h = row.hypothesis;
  const auto verdict = model::verdict_named(row.state);
  if (!verdict) {
    return Error{Error::Kind::kConflict,
                 fmt::format("{} is {}: there is no verdict to reopen", h.id, row.state)};
  }
  Snapshot snapshot = TRY(take_snapshot(context, {.family = h.family}));
  LedgerEffects effects(context, snapshot, 0, kSilent);
  return snapshot.experiments.reopen({h, *verdict}, actor, reason, effects);
}

}  // namespace amdahl::app
