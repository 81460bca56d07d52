#include "app/hands.h"

#include <nlohmann/json.hpp>

#include "app/promote.h"
#include "base/hash.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

constexpr std::string_view kActor = "cycle";

ledger::Draft draft(const std::string& kind, const std::string& subject, Json payload) {
  return {kind, std::string(kActor), subject, std::move(payload)};
}

ledger::Draft campaign_draft(const loop::CampaignOpened& opened) {
  return draft("campaign.opened", opened.id,
               {{"k", opened.campaign.hypotheses},
                {"alpha", opened.campaign.alpha},
                {"seed", opened.seed},
                {"seed_hash", sha256_hex(opened.seed)}});
}

}  // namespace

Result<ledger::Draft> LedgerHands::draft_of(const loop::Happening& happening) {
  if (const auto* it = std::get_if<loop::CampaignOpened>(&happening)) return campaign_draft(*it);
  if (const auto* it = std::get_if<loop::Registered>(&happening)) {
    return draft("experiment.registered", it->experiment.id, encode(it->experiment));
  }
  if (const auto* it = std::get_if<loop::Staged>(&happening)) {
    return draft("experiment.staged", it->experiment, {{"stage", it->stage}});
  }
  if (const auto* it = std::get_if<loop::Voted>(&happening)) {
    return draft("check.voted", it->experiment, encode(it->finding));
  }
  if (const auto* it = std::get_if<loop::Compared>(&happening)) {
    return draft("comparison.made", it->experiment, encode(it->comparison));
  }
  if (const auto* it = std::get_if<loop::Judged>(&happening)) {
    return draft("verdict.recorded", it->verdict.hypothesis, encode(it->verdict));
  }
  const auto& gate = std::get<loop::GateOpened>(happening);
  const model::Experiment& e = snapshot_.desk.experiment(gate.experiment);
  model::GatePacket packet =
      TRY(make_packet(context_, snapshot_.families.at(e.family), e,
                      snapshot_.desk.hypothesis(e.hypothesis), gate.comparison, gate.votes));
  packet.holds_for = gate.holds_for;
  return draft("gate.opened", e.id, encode(packet));
}

Result<> LedgerHands::remember(std::span<const loop::Happening> together) {
  std::vector<ledger::Draft> drafts;
  for (const loop::Happening& happening : together) drafts.push_back(TRY(draft_of(happening)));
  TRY(context_.ledger->append(drafts, fence_));
  return Ok{};
}

void LedgerHands::say(const std::string& sentence) { say_(sentence); }

Nanos LedgerHands::now() { return context_.clock->unix_time(); }

std::string LedgerHands::fresh_seed() { return os::random_hex(32); }

}  // namespace amdahl::app
