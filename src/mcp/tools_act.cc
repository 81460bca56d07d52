#include "mcp/tools_act.h"

#include <fmt/core.h>

#include "app/context.h"
#include "app/history.h"
#include "app/memory.h"
#include "mcp/runner.h"
#include "mcp/views.h"
#include "model/codec.h"

namespace amdahl::mcp {
namespace {

constexpr double kMinutes = 30;

Work work_of(const Json& arguments) {
  return arguments.value("until", "settled") == "profiled" ? Work::kProfile : Work::kTest;
}

Json running(const ToolCall& call, std::string next) {
  Json answer = call.runner.state();
  answer["next"] = std::move(next);
  return answer;
}

}  // namespace

Result<Json> propose_change(const Json& arguments, ToolCall& call) {
  app::Context context = TRY(app::open_context(call.config, false));
  const std::string family = arguments.at("family");
  app::Idea idea;
  idea.change = TRY(model::decode<model::Change>(arguments.at("change")).in("change"));
  idea.title = arguments.at("title");
  idea.mechanism = arguments.value("mechanism", "");
  idea.gain = arguments.at("gain_percent").get<double>() / 100;
  idea.cause = arguments.value("cause", "");
  idea.from = "agent";
  idea.actor = "mcp:" + (call.caller.client.empty() ? "client" : call.caller.client);
  const app::Proposal proposal = TRY(app::propose(context, family, idea));
  Json known = Json::array();
  for (const app::Remembered& past : proposal.known) known.push_back(row_of(past));
  const bool accepted = proposal.accepted.has_value();
  const std::string id = accepted ? proposal.accepted->id : "";
  return Json{
      {"accepted", accepted},
      {"hypothesis", accepted ? Json(id) : Json()},
      {"resumed", proposal.resumed},
      {"because", proposal.refused},
      {"known", known},
      {"next", accepted
                   ? fmt::format("run_experiments with family '{}' and hypothesis '{}'", family, id)
                   : "read what is known of it, and propose another idea"}};
}

Result<Json> adopt_job(const Json&, ToolCall& call) {
  if (call.runner.grant().command.empty()) {
    return Error{Error::Kind::kUnsupported,
                 "no job was handed over. Ask the person to type: amdahl run --family NAME -- "
                 "COMMAND, then amdahl adopt last; or to connect with: amdahl mcp -- COMMAND"};
  }
  TRY(call.runner.begin(Work::kAdopt, "", from_seconds(60 * kMinutes)));
  return running(call,
                 "loop_status with wait_s until it is adopted; then run_experiments with "
                 "until 'profiled'");
}

Result<Progress> adopt_progress(const Json&, ToolCall& call) {
  return Progress{!call.runner.is_running(), "runs the job twice to learn what it does",
                  running(call, "run_experiments with until 'profiled'")};
}

Result<Json> run_experiments(const Json& arguments, ToolCall& call) {
  const std::string family = arguments.at("family");
  app::Context context = TRY(app::open_context(call.config, false));
  TRY(app::need_family(context, family));
  if (arguments.contains("hypothesis")) {
    TRY(app::find_hypothesis(context, arguments.at("hypothesis")));
  }
  TRY(call.runner.begin(work_of(arguments), family,
                        from_seconds(60 * arguments.value("minutes", kMinutes))));
  return TRY(run_progress(arguments, call)).answer;
}

Result<Progress> run_progress(const Json& arguments, ToolCall& call) {
  const bool runs = call.runner.is_running();
  Progress progress{!runs, "", running(call, "loop_status or experiment_status, with wait_s")};
  progress.says =
      fmt::format("{} of {}", progress.answer.value("what", ""), arguments.value("family", ""));
  progress.answer["status"] = nullptr;
  if (!arguments.contains("hypothesis")) {
    if (!runs) progress.answer["next"] = "query_profile, code_findings, propose_change";
    return progress;
  }
  app::Context context = TRY(app::open_context(call.config, false));
  const ledger::HypothesisRow row = TRY(app::find_hypothesis(context, arguments.at("hypothesis")));
  const app::Story story = TRY(app::story_of(context, row));
  const Standing standing = standing_of(story, runs);
  progress.done = standing.settled || !runs;
  progress.says = fmt::format("{} waits for {}", row.hypothesis.id, standing.waits_for);
  progress.answer["status"] = status_of(story, runs);
  progress.answer["next"] = standing.next;
  return progress;
}

}  // namespace amdahl::mcp
