#include "mcp/views.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/document.h"

namespace amdahl::mcp {

Json pick(const Json& object, const std::vector<std::string>& fields) {
  Json picked = Json::object();
  for (const std::string& field : fields) {
    if (const auto found = object.find(field); found != object.end()) picked[field] = *found;
  }
  return picked;
}

Json pick_each(const Json& list, const std::vector<std::string>& fields, std::size_t at_most) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(list.size(), at_most); ++i) {
    rows.push_back(pick(list[i], fields));
  }
  return rows;
}

Json measured(const std::optional<model::Comparison>& comparison) {
  if (!comparison || comparison->pairs == 0) return nullptr;
  const auto saved = [](double log_effect) { return api::finite(1 - std::exp(-log_effect)); };
  return {{"answer", model::name(comparison->answer)},
          {"saved", saved(comparison->effect)},
          {"lower", saved(comparison->lower)},
          {"upper", saved(comparison->upper)},
          {"pairs", comparison->pairs}};
}

Json row_of(const ledger::HypothesisRow& row, const std::optional<model::Verdict>& verdict) {
  const model::Hypothesis& h = row.hypothesis;
  return {{"id", h.id},
          {"family", h.family},
          {"state", row.state},
          {"title", h.title},
          {"change", model::describe(h.change)},
          {"origin", h.origin.kind},
          {"predicted_gain", h.predicted_gain},
          {"measured", measured(verdict ? verdict->comparison : std::nullopt)},
          {"reason", verdict ? Json(verdict->reason) : Json()}};
}

Json row_of(const app::Remembered& past) {
  Json row = row_of(past.row, past.verdict);
  row["nearness"] = hypothesize::describe(past.nearness);
  return row;
}

Standing standing_of(const app::Story& story, bool cycle_runs) {
  const std::string& id = story.row.hypothesis.id;
  const std::string run = fmt::format("run_experiments with family '{}' and hypothesis '{}'",
                                      story.row.hypothesis.family, id);
  if (story.verdict && story.row.state != "live" && story.row.state != "reopened") {
    return {true, "nothing", "it has its verdict; propose another idea"};
  }
  if (story.parked) {
    return {!cycle_runs, "idle slots",  // Which a cycle that runs may have for it.
            fmt::format("about {} more pairs would settle it: propose it again to go on now",
                        story.parked->pairs_to_settle)};
  }
  const bool live = story.experiment && story.experiment->state == "live";
  if (live && story.experiment->stage == model::Stage::kGate) {
    return {true, "a person",
            fmt::format("a person decides; they type: amdahl gate show {0}, then amdahl gate "
                        "approve {0} --reason TEXT (or reject)",
                        id)};
  }
  if (live && story.experiment->stage == model::Stage::kHold) {
    return {!cycle_runs, "more evidence", "the last votes say what is missing; then " + run};
  }
  if (cycle_runs) return {false, live ? "pairs" : "a free slot", "ask again later"};
  return {false, "a cycle", run};
}

Json status_of(const app::Story& story, bool cycle_runs) {
  std::optional<model::Verdict> verdict = story.verdict;
  Json status = row_of(story.row, verdict);
  const Standing standing = standing_of(story, cycle_runs);
  status["settled"] = standing.settled;
  status["waits_for"] = standing.waits_for;
  status["next"] = standing.next;
  status["mechanism"] = story.row.hypothesis.mechanism;
  status["stage"] = story.experiment ? Json(model::name(story.experiment->stage)) : Json();
  if (story.experiment && story.experiment->comparison && status["measured"].is_null()) {
    status["measured"] = measured(story.experiment->comparison);
  }
  status["votes"] = Json::array();
  for (const model::Finding& vote : story.votes) {
    status["votes"].push_back({{"check", vote.check},
                               {"vote", model::name(vote.vote)},
                               {"decisive", vote.decisive},
                               {"because", vote.because}});
  }
  return status;
}

}  // namespace amdahl::mcp
