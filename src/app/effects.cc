#include "app/effects.h"

#include <nlohmann/json.hpp>

#include "app/canary.h"
#include "app/promote.h"
#include "base/hash.h"
#include "hypothesize/priors.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

// Each event as the ledger keeps it; nothing for one that it has no use for.
struct Drafter {
  using Drafted = Result<std::optional<ledger::Draft>>;

  Context& context;
  const Snapshot& snapshot;
  std::string actor;

  Drafted draft(const std::string& kind, const std::string& subject, Json payload) const {
    return std::optional(ledger::Draft{kind, actor, subject, std::move(payload)});
  }

  Drafted operator()(const loop::CampaignOpened& opened) const {
    return draft("campaign.opened", opened.id,
                 {{"k", opened.campaign.hypotheses},
                  {"alpha", opened.campaign.alpha},
                  {"seed", opened.seed},
                  {"seed_hash", sha256_hex(opened.seed)}});
  }
  Drafted operator()(const loop::Registered& it) const {
    return draft("experiment.registered", it.experiment.id, encode(it.experiment));
  }
  Drafted operator()(const loop::Staged& it) const {
    return draft("experiment.staged", it.experiment, {{"stage", name(it.stage)}});
  }
  Drafted operator()(const loop::Voted& it) const {
    return draft("check.voted", it.experiment, encode(it.finding));
  }
  Drafted operator()(const loop::Compared& it) const {
    return draft("comparison.made", it.experiment, encode(it.comparison));
  }
  Drafted operator()(const loop::GateOpened& gate) const {
    const model::Experiment& e = snapshot.experiments.experiment(gate.experiment);
    const model::Hypothesis& h = snapshot.experiments.hypothesis(e.hypothesis);
    model::GatePacket packet = TRY(
        make_packet(context, snapshot.families.at(e.family), e, h, gate.comparison, gate.votes));
    packet.holds_for = gate.holds_for;
    return draft("gate.opened", e.id, encode(packet));
  }
  Drafted operator()(const loop::GateDecided& it) const {
    return draft("gate.decided", it.experiment, encode(it.decision));
  }
  Drafted operator()(const loop::Judged& it) const { return std::optional(draft_of(it, actor)); }
  Drafted operator()(const loop::BaselineMoved& it) const {
    return draft("baseline.moved", it.family,
                 {{"hypothesis", it.hypothesis},
                  {"change", encode(it.baseline)},
                  {"seen", snapshot.families.at(it.family).version}});
  }
  Drafted operator()(const loop::SavingBooked& it) const {
    return draft("saving.booked", it.hypothesis,
                 {{"family", it.family}, {"predicted_share", it.predicted_share}});
  }
  Drafted operator()(const loop::WatchBegan& it) const { return canary_draft(context, it, actor); }
  Drafted operator()(const loop::RolledBack& it) const {
    return draft("baseline.rolled_back", it.family,
                 {{"hypothesis", it.hypothesis},
                  {"change", encode(it.baseline)},
                  {"seen", snapshot.families.at(it.family).version},
                  {"reason", it.reason}});
  }
  Drafted operator()(const loop::Reopened& it) const {
    return draft("hypothesis.reopened", it.hypothesis, {{"reason", it.reason}});
  }
};

}  // namespace

ledger::Draft draft_of(const loop::Judged& judged, std::string_view actor) {
  return {"verdict.recorded", std::string(actor), judged.verdict.hypothesis,
          encode(judged.verdict)};
}

// What the verdict teaches, beside it.
Result<ledger::Draft> LedgerEffects::lesson_from(const model::Verdict& verdict) {
  const ledger::HypothesisRow row = TRY(context_.ledger->hypothesis(verdict.hypothesis));
  const hypothesize::Lesson lesson = hypothesize::lesson_of(row.hypothesis, verdict);
  return ledger::Draft{"lesson.recorded",
                       std::string(loop::kActor),
                       verdict.hypothesis,
                       {{"lesson", lesson.text}, {"next", lesson.next}}};
}

Result<> LedgerEffects::remember(std::string_view actor,
                                 std::span<const loop::LoopEvent> together) {
  const Drafter drafter{context_, snapshot_, std::string(actor)};
  std::vector<ledger::Draft> drafts;
  for (const loop::LoopEvent& event : together) {
    if (auto draft = TRY(std::visit(drafter, event))) drafts.push_back(*std::move(draft));
    const auto* judged = std::get_if<loop::Judged>(&event);
    if (judged != nullptr) drafts.push_back(TRY(lesson_from(judged->verdict)));
  }
  TRY(context_.ledger->append(drafts, fence_));
  return Ok{};
}

void LedgerEffects::say(const std::string& sentence) {
  if (say_) say_(sentence);
}

Nanos LedgerEffects::now() { return context_.clock->unix_time(); }

std::string LedgerEffects::fresh_seed() { return os::random_hex(32); }

}  // namespace amdahl::app
