#include "api/loop.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/history.h"
#include "model/codec.h"

namespace amdahl::api {
namespace {

Json proposals_json(const std::vector<ledger::CanaryRow>& rows) {
  Json list = Json::array();
  for (const ledger::CanaryRow& row : rows) {
    list.push_back({{"hypothesis", row.canary.hypothesis},
                    {"family", row.canary.family},
                    {"because", row.reason},
                    {"to_do", app::rollback_hint(row.canary.hypothesis)}});
  }
  return list;
}

Json json_of(const ledger::GateRow& row) {
  return {{"state", row.state},
          {"digest", row.digest},
          {"packet", encode(row.packet)},
          {"decision", encode(row.decision)}};
}

Json json_of(const app::RoiMonth& m, double price) {
  return {{"month", m.month},
          {"family", m.family},
          {"spent_accelerator_h", m.spent_accelerator_h},
          {"spent_usd", m.spent_usd},
          {"jobs", m.jobs},
          {"used_accelerator_h", m.used_accelerator_h},
          {"banked_accelerator_h", m.banked_accelerator_h},
          {"banked_lower_accelerator_h", m.banked_lower},
          {"banked_upper_accelerator_h", m.banked_upper},
          {"banked_usd", m.banked_accelerator_h * price},
          {"banked_lower_usd", m.banked_lower * price},
          {"banked_upper_usd", m.banked_upper * price}};
}

Json json_of(const std::vector<app::RoiMonth>& months, double price) {
  Json list = Json::array();
  for (const app::RoiMonth& month : months) list.push_back(json_of(month, price));
  return list;
}

Json json_of(const app::RoiRow& r, double price) {
  const bool realised = r.realised_share.has_value();
  return {{"family", r.family},
          {"spent_accelerator_s", r.spent_accelerator_s},
          {"spent_usd", r.spent_usd},
          {"promoted", r.promoted},
          {"predicted_share", r.predicted_share},
          {"realised_share", or_null(r.realised_share)},
          {"realised_lower", realised ? Json(r.realised_lower) : Json()},
          {"realised_upper", realised ? Json(r.realised_upper) : Json()},
          {"realised_pairs", r.realised_pairs},
          {"production", r.production ? encode(*r.production) : Json()},
          {"volume_accelerator_h_per_day", r.volume_accelerator_h_per_day},
          {"without_accelerator_h_per_day", r.without_accelerator_h_per_day},
          {"saved_accelerator_h_per_day", r.saved_accelerator_h_per_day},
          {"saved_usd_per_month", r.saved_usd_per_month},
          {"banked", r.banked ? json_of(*r.banked, price) : Json()}};
}

Json json_of(const app::CanaryView& view) {
  return {{"hypothesis", view.row.canary.hypothesis},
          {"family", view.row.canary.family},
          {"state", model::name(view.row.state)},
          {"by", view.row.actor},
          {"reason", view.row.reason},
          {"terms", encode(view.row.canary)},
          {"result", encode(view.result)},
          {"unreadable", view.unreadable}};
}

template <class Rows>
Json list_of(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(json_of(row));
  return list;
}

}  // namespace

Json cycle(const app::CycleSummary& s) {
  return document({{"ended_runs", s.ended_runs},
                   {"submitted", s.submitted},
                   {"asked", s.asked},
                   {"answers", s.answers},
                   {"promoted", s.promoted},
                   {"settled", s.settled},
                   {"waiting_at_gate", s.waiting_at_gate},
                   {"held", s.held},
                   {"parked", s.parked},
                   {"skipped", s.skipped},
                   {"stopped_because", s.stopped_because}});
}

Json work(const app::WorkSummary& s) {
  return document({{"collected", s.collected},
                   {"built", s.built},
                   {"asked", s.asked},
                   {"given_back", s.given_up}});
}

Json status(const app::Status& s) {
  Json experiments = Json::array();
  for (const loop::ExperimentState& x : s.snapshot.experiments.state().experiments) {
    experiments.push_back(
        {{"id", x.id},
         {"hypothesis", x.hypothesis},
         {"title", s.snapshot.experiments.hypothesis(x.hypothesis).title},
         {"family", x.family},
         {"stage", name(x.stage)},
         {"parked", x.parked ? parked(app::parked_of(s.snapshot.experiments, x)) : Json()},
         {"in_flight", x.in_flight + x.top_up_in_flight},
         {"comparison", encode(s.snapshot.experiments.comparison(x.id))}});
  }
  Json families = Json::array();
  for (const loop::FamilyState& f : s.snapshot.experiments.state().families) {
    families.push_back({{"family", f.name},
                        {"profiled", f.profiled},
                        {"same_pairs", f.same_pairs},
                        {"volume_accelerator_h_per_day", f.volume_accelerator_h_per_day}});
  }
  Json doc = {{"state_dir", s.state_dir},
              {"tallies", s.tallies},
              {"experiments", experiments},
              {"families", families},
              {"queued", s.snapshot.experiments.state().queued.size()},
              {"in_flight", s.snapshot.in_flight.size()},
              {"pending_at_gate", s.pending.size()},
              {"under_test_accelerator_h_per_day", app::under_test(s)},
              {"rollbacks_proposed", proposals_json(s.rollbacks)}};
  for (const ledger::Budget& b : s.budgets) {
    doc["budgets"][b.resource] = {{"limit", or_null(b.limit)},
                                  {"committed", b.committed},
                                  {"spent", b.spent},
                                  {"overrun", b.overrun}};
  }
  doc["next"] = s.choice ? s.choice->body : Json();
  if (s.choice) doc["next"]["since_ns"] = s.choice->at.count();
  if (s.lease) {
    doc["lease"] = {{"holder", s.lease->holder},
                    {"host", s.lease->host},
                    {"taken_ns", s.lease->taken.count()},
                    {"expires_ns", s.lease->expires.count()}};
  }
  if (s.campaign) {
    doc["campaign"] = {{"id", s.campaign->id},
                       {"k", s.campaign->k},
                       {"alpha", s.campaign->alpha},
                       {"registered", s.campaign->registered},
                       {"promoted", s.campaign->promoted}};
  }
  return document(std::move(doc));
}

Json dream(const app::DreamOutcome& outcome) {
  Json injected = Json::array();
  for (const model::Hypothesis& h : outcome.injected) injected.push_back(encode(h));
  Json left_out = Json::array();
  for (const app::NotTaken& idea : outcome.left_out) {
    left_out.push_back({{"family", idea.family},
                        {"what", idea.what},
                        {"origin", idea.origin},
                        {"because", idea.because}});
  }
  Json leads = Json::array();
  for (const app::DreamLead& lead : outcome.leads) {
    leads.push_back({{"bottleneck", model::name(lead.found.lead.bottleneck)},
                     {"technique", lead.found.lead.technique},
                     {"quote", lead.found.lead.quote},
                     {"origin", lead.found.origin},
                     {"has_diff", !lead.found.diff.empty()},
                     {"families", lead.families}});
  }
  return document({{"injected", injected},
                   {"leads", leads},
                   {"duplicates", outcome.duplicates},
                   {"unchanged", outcome.unchanged},
                   {"repositories", outcome.repositories},
                   {"commits", outcome.commits},
                   {"new_commits", outcome.new_commits},
                   {"known", outcome.known},
                   {"left_out", left_out},
                   {"queue_is_full", outcome.queue_is_full},
                   {"wins", outcome.wins_searched},
                   {"docs", outcome.docs},
                   {"documents", outcome.documents},
                   {"passed_over", outcome.passed_over},
                   {"unread", outcome.unread},
                   {"passages", outcome.passages},
                   {"more_passages", outcome.more_passages},
                   {"unprofiled", outcome.unprofiled},
                   {"unclassified", outcome.unclassified}});
}

Json gate(const app::GateList& gate) {
  return document(
      {{"gate", list_of(gate.rows)}, {"rollbacks_proposed", proposals_json(gate.rollbacks)}});
}

Json gate_item(const ledger::GateRow& row) { return document(json_of(row)); }

Json stacks(const std::vector<model::StackResult>& results) {
  Json list = Json::array();
  for (const model::StackResult& result : results) list.push_back(encode(result));
  return document({{"stacks", list}});
}

Json canaries(const std::vector<app::CanaryView>& views) {
  return document({{"canaries", list_of(views)}});
}

Json roi(const app::Roi& roi) {
  Json families = Json::array();
  for (const app::RoiRow& row : roi.rows) families.push_back(json_of(row, roi.price));
  return document({{"price_usd", roi.price},
                   {"families", families},
                   {"months", json_of(roi.months, roi.price)},
                   {"banked", json_of(roi.banked, roi.price)},
                   {"spent_accelerator_h", roi.spent_accelerator_h},
                   {"spent_usd", roi.spent_usd},
                   {"saved_accelerator_h_per_day", roi.saved_accelerator_h_per_day},
                   {"saved_usd_per_month", roi.saved_usd_per_month},
                   {"pays_back_days", or_null(roi.pays_back_days)},
                   {"prevented",
                    {{"ideas", roi.prevented.ideas},
                     {"pairs", roi.prevented.pairs},
                     {"accelerator_h", roi.prevented.accelerator_h},
                     {"usd", roi.prevented.accelerator_h * roi.price}}}});
}

Json proposed(const model::Hypothesis& hypothesis) { return document(encode(hypothesis)); }

Json parked(const app::Parked& parked) {
  return {{"pairs_to_settle", parked.pairs_to_settle},
          {"e_better", parked.e_better},
          {"e_no_effect", parked.e_no_effect},
          {"e_asked", parked.e_asked}};
}

Json outcome(const std::string& said) { return document({{"outcome", said}}); }

Result<Json> status(app::Context& context) { return status(TRY(app::read_status(context))); }

Result<Json> gate(app::Context& context, int newest) {
  return gate(TRY(app::read_gate(context, newest)));
}

Result<Json> gate_item(app::Context& context, const std::string& id) {
  const ledger::GateRow row = TRY(app::find_gate(context, id));
  Json item = gate_item(row);
  const auto said = TRY(app::attacks_on(context, row.packet.family, row.packet.experiment));
  if (!said.empty()) item["attacks"] = attacks(said);
  return item;
}

Result<Json> stacks(app::Context& context) { return stacks(TRY(app::latest_stacks(context))); }

Result<Json> canaries(app::Context& context, const std::string& family) {
  return canaries(TRY(app::read_canaries(context, family)));
}

Result<Json> roi(app::Context& context, std::optional<double> price) {
  return roi(TRY(app::return_on_investment(context, price)));
}

namespace {

Result<Json> decide(app::Context& context, const Decision& decision, bool approved) {
  const ledger::GateRow row = TRY(app::find_gate(context, decision.id));
  if (!decision.seen.empty() && decision.seen != row.digest) {
    return Error{Error::Kind::kConflict,
                 fmt::format("the claim {} is not the one that was seen; load it again",
                             row.packet.hypothesis)};
  }
  return outcome(TRY(app::decide(context, row, {approved, decision.who, decision.reason})));
}

}  // namespace

Result<Json> approve(app::Context& context, const Decision& decision) {
  return decide(context, decision, true);
}

Result<Json> reject(app::Context& context, const Decision& decision) {
  return decide(context, decision, false);
}

Result<Json> roll_back(app::Context& context, const Decision& decision) {
  return outcome(TRY(app::roll_back(context, decision.id, decision.who, decision.reason)));
}

Result<Json> keep(app::Context& context, const Decision& decision) {
  return outcome(TRY(app::keep_change(context, decision.id, decision.who, decision.reason)));
}

Result<Json> propose(app::Context& context, const std::string& family, const app::Idea& idea) {
  return proposed(TRY(app::propose_change(context, family, idea)));
}

Result<model::Change> change_in(const Json& json) { return model::decode<model::Change>(json); }

}  // namespace amdahl::api
