#include "api/history.h"

#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/loop.h"
#include "app/promote.h"
#include "model/codec.h"

namespace amdahl::api {
namespace {

Json json_of(const ledger::Event& event) {
  return {{"seq", event.seq},   {"at_ns", event.at.count()}, {"actor", event.actor},
          {"kind", event.kind}, {"subject", event.subject},  {"payload", event.payload},
          {"hash", event.hash}};
}

Json json_of(const std::vector<ledger::Event>& events) {
  Json list = Json::array();
  for (const ledger::Event& event : events) list.push_back(json_of(event));
  return list;
}

// Of the metric, per unit of work.
Json per_work(const model::ArmFact& arm) {
  if (arm.metric) return *arm.metric;
  if (!arm.work || !(*arm.work > 0)) return {};
  return arm.cost / *arm.work;
}

Json json_of(const app::PairStep& step) {
  const model::Pair& pair = step.pair;
  Json json = {{"index", pair.index},
               {"reservation", pair.reservation},
               {"purpose", model::text_of(pair.aim)},
               {"state", model::name(pair.state)},
               {"order", pair.variant_second ? "AB" : "BA"},
               {"at_ns", pair.at.count()},
               {"spent_accelerator_s", pair.spent_accelerator_s},
               {"voided", !step.void_because.empty()},
               {"because", step.void_because},
               {"effect", or_null(step.effect)},
               {"host", Json()},
               {"a_per_work", Json()},
               {"b_per_work", Json()},
               {"after", step.after ? encode(*step.after) : Json()}};
  if (pair.fact) {
    json["a_per_work"] = per_work(pair.fact->a);
    json["b_per_work"] = per_work(pair.fact->b);
    if (pair.fact->a.host) json["host"] = *pair.fact->a.host;
  }
  return json;
}

}  // namespace

Json pairs(const app::PairStory& story) {
  Json list = Json::array();
  for (const app::PairStep& step : story.steps) list.push_back(json_of(step));
  return document({{"experiment", story.experiment.id},
                   {"hypothesis", story.experiment.hypothesis},
                   {"family", story.experiment.family},
                   {"metric", story.experiment.metric},
                   {"work_unit", story.work_unit},
                   {"e_better", story.e_better},
                   {"pairs", list}});
}

Result<Json> receipts(app::Context& context, const std::string& id,
                      const std::string& reservation) {
  Json list = Json::array();
  for (const app::PairReceipt& one : TRY(app::receipts_of(context, id, reservation))) {
    list.push_back({{"arm", one.arm}, {"receipt", or_null(one.receipt)}, {"missing", one.missing}});
  }
  return document({{"reservation", reservation}, {"receipts", list}});
}

Json attacks(const std::vector<app::Attack>& attacks) {
  Json list = Json::array();
  for (const app::Attack& attack : attacks) {
    Json row = app::encode(attack);
    row["question"] = attack.question;
    row["by"] = attack.by;
    row["settled"] = attack.settled;
    list.push_back(std::move(row));
  }
  return list;
}

Json story(const app::Story& story) {
  Json votes = Json::array();
  for (const model::Finding& vote : story.votes) votes.push_back(encode(vote));
  Json doc = {{"hypothesis", encode(story.row.hypothesis)},
              {"state", story.row.state},
              {"votes", votes},
              {"events", json_of(story.events)}};
  if (!story.attacks.empty()) doc["attacks"] = attacks(story.attacks);
  if (story.verdict) doc["verdict"] = encode(*story.verdict);
  if (story.parked) doc["parked"] = parked(*story.parked);
  if (story.experiment) {
    doc["experiment"] = encode(story.experiment->experiment);
    doc["stage"] = model::name(story.experiment->stage);
    if (story.experiment->comparison) doc["comparison"] = encode(*story.experiment->comparison);
  }
  return document(std::move(doc));
}

Json event(const ledger::Event& event) { return json_of(event); }

Json events(const std::vector<ledger::Event>& events) {
  return document({{"events", json_of(events)}});
}

Json hypotheses(const app::HypothesisList& list) {
  const ledger::HypothesisPage& page = list.page;
  Json items = Json::array();
  for (auto item = page.items.rbegin(); item != page.items.rend(); ++item) {
    Json json = {{"hypothesis", encode(item->row.hypothesis)}, {"state", item->row.state}};
    const auto waits = list.parked.find(item->row.hypothesis.id);
    if (waits != list.parked.end()) json["parked"] = parked(waits->second);
    if (item->verdict) {
      const auto lesson = hypothesize::lesson_of(item->row.hypothesis, *item->verdict);
      json["verdict"] = encode(*item->verdict);
      json["lesson"] = {{"text", lesson.text}, {"next", lesson.next}};
    }
    items.push_back(std::move(json));
  }
  return document({{"total", page.total},
                   {"before", page.next == 0 ? Json() : Json(page.next)},
                   {"hypotheses", items}});
}

Json found(const std::vector<ledger::HypothesisRow>& rows) {
  Json items = Json::array();
  for (const ledger::HypothesisRow& row : rows) {
    items.push_back({{"hypothesis", encode(row.hypothesis)}, {"state", row.state}});
  }
  return document({{"found", items}});
}

Json calibration(const app::Calibration& calibration) {
  Json origins = Json::array();
  for (const app::CalibrationRow& row : calibration.origins) {
    origins.push_back({{"origin", row.origin},
                       {"proposed", row.proposed},
                       {"tested", row.tested},
                       {"promoted", row.promoted},
                       {"predicted_chance", row.tested > 0 ? Json(row.chance) : Json()},
                       {"promoted_share", or_null(row.frequency)},
                       {"brier", or_null(row.brier)},
                       {"measured", row.measured},
                       {"predicted_gain", or_null(row.predicted_gain)},
                       {"measured_gain", or_null(row.measured_gain)},
                       {"gain_error", or_null(row.gain_error)}});
  }
  Json cells = Json::array();
  for (const auto& [cell, counts] : calibration.priors.cells()) {
    cells.push_back({{"bottleneck", model::name(cell.first)},
                     {"kind", cell.second},
                     {"tried", counts.tried},
                     {"won", counts.won}});
  }
  return document({{"origins", origins}, {"priors", cells}});
}

Json verified(const ledger::VerifyReport& report) {
  return document({{"ok", report.ok()},
                   {"events", report.events},
                   {"bad_event", report.bad_event},
                   {"differences", report.differences}});
}

Json reopened(const std::string& hypothesis) {
  return document({{"hypothesis", hypothesis}, {"state", "reopened"}});
}

Result<Json> hypotheses(app::Context& context, const app::HypothesisFilter& filter) {
  return hypotheses(TRY(app::list_hypotheses(context, filter)));
}

Result<Json> found(app::Context& context, const std::string& words, int at_most) {
  return found(TRY(app::search(context, words, at_most)));
}

Result<Json> story(app::Context& context, const std::string& id) {
  const ledger::HypothesisRow row = TRY(app::find_hypothesis(context, id));
  return story(TRY(app::story_of(context, row)));
}

Result<Json> events(app::Context& context, const std::string& subject, std::int64_t before,
                    int at_most) {
  return events(TRY(app::events_about(context, subject, before, at_most)));
}

Json copied(const app::CopiedLedger& copy) {
  return document({{"copied", copy.copied}, {"events", copy.events}, {"hash", copy.hash}});
}

Result<Json> verified(app::Context& context) { return verified(TRY(app::verify(context))); }

Result<Json> pairs(app::Context& context, const std::string& id) {
  return pairs(TRY(app::pairs_of(context, id)));
}

Result<Json> reopen(app::Context& context, const std::string& id, const std::string& who,
                    const std::string& reason) {
  const ledger::HypothesisRow row = TRY(app::find_hypothesis(context, id));
  TRY(app::reopen(context, row, who, reason));
  return reopened(row.hypothesis.id);
}

}  // namespace amdahl::api
