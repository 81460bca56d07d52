#include "mcp/tools_read.h"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "api/fleet.h"
#include "api/history.h"
#include "api/loop.h"
#include "api/profile.h"
#include "app/context.h"
#include "app/evidence.h"
#include "app/fleet.h"
#include "app/history.h"
#include "app/job_profile.h"
#include "app/scan.h"
#include "app/status.h"
#include "app/store.h"
#include "app/trace_profile.h"
#include "mcp/runner.h"
#include "mcp/views.h"
#include "model/codec.h"
#include "os/clock.h"
#include "os/host.h"

namespace amdahl::mcp {
namespace {

constexpr int kRows = 10;
constexpr int kLedgerRows = 20;
constexpr int kReaders = 8;
constexpr Nanos kLookEvery = std::chrono::milliseconds(250);

// Until it is done, the time is up or the server ends.
template <class Done>
void wait_for(const Json& arguments, const ToolCall& call, Done done) {
  os::Clock& clock = os::real_clock();
  const Nanos until = clock.monotonic() + from_seconds(arguments.value("wait_s", 0.0));
  while (!call.stopped() && !done() && clock.monotonic() < until) clock.sleep(kLookEvery);
}

// The latest profile of a family with what its run's collectors left.
struct Explained {
  ledger::Family family;
  app::Collected collected;
  app::JobProfile job;
};
Result<Explained> explained(const std::string& name, const ToolCall& call) {
  app::Context context = TRY(app::open_context(call.config, false));
  Explained answer{TRY(app::need_family(context, name)), {}, {}};
  if (!answer.family.profile) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("{} has no profile yet: run_experiments with until 'profiled'", name)};
  }
  answer.collected =
      app::collected_in(context.path(fmt::format("runs/{}/B", answer.family.profile->id)));
  answer.job = app::explain(app::spec_of_run(answer.family.spec, answer.collected),
                            *answer.family.profile, answer.collected);
  return answer;
}

Result<Json> trace_answer(const std::string& about, const Json& arguments, const Explained& seen) {
  if (seen.collected.traces.empty()) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("the profiled run of {} left no trace of a device, so that there are "
                             "no {}: ask about causes or waits",
                             seen.family.name, about)};
  }
  app::TraceRequest request;
  request.files.files = seen.collected.traces;
  if (about == "what_if") {
    request.what_if = arguments.value("what_if", "");
    if (request.what_if.empty()) return bad_input("what_if: say what, such as 'input=0'");
  }
  const Json all = api::traces(TRY(app::profile_traces(request)));
  const auto rows = arguments.value("limit", static_cast<std::size_t>(kRows));
  if (about == "what_if") return pick(all, {"what_if", "gains", "pairs", "wall_ns", "readings"});
  if (about == "critical_path") {
    Json path = all.at("critical_path");
    path["places"] = pick_each(path["places"], {"why", "what", "line", "time_ns", "times"}, rows);
    return Json{{"critical_path", path}, {"wall_ns", all.at("wall_ns")}};
  }
  Json devices = Json::array();
  for (Json device : all.at("devices")) {
    device["places"] =
        pick_each(device["places"], {"why", "what", "line", "time_ns", "times"}, rows);
    devices.push_back(std::move(device));
  }
  return Json{{"devices", devices}, {"wall_ns", all.at("wall_ns")}};
}

Json profile_part(const std::string& about, const Json& arguments, const Json& job) {
  if (about == "waits") return pick(job, {"waits", "not_read"});
  if (about == "evidence") return pick(job, {"evidence", "missing"});
  Json answer = pick(job, {"bottleneck", "rule", "missing", "not_read"});
  const auto rows = arguments.value("limit", static_cast<std::size_t>(kRows));
  answer["causes"] = pick_each(job.at("causes"),
                               {"id", "name", "bottleneck", "share", "accelerator_seconds",
                                "ceiling", "expected", "because", "try", "file", "line", "went_to"},
                               rows);
  return answer;
}

}  // namespace

Result<Json> rank_fleet(const Json& arguments, ToolCall& call) {
  const scan::By by = scan::cut_named(arguments.value("by", "family")).value_or(scan::By::kFamily);
  app::ScanOptions options;
  options.report.rows = arguments.value("top", static_cast<std::size_t>(kRows));
  options.report.prices = {call.config.price_accelerator_hour, call.config.price_by_kind};
  options.read.threads = std::min(kReaders, static_cast<int>(os::usable_cpus().size()));
  options.read.stop = call.stopped;
  const std::unique_ptr<ledger::Ledger> ledger = TRY(app::find_ledger(call.config));
  const auto answer = app::scan_all(call.config, ledger.get(), os::real_clock(), options);
  if (!answer && answer.error().kind == Error::Kind::kNotFound) return api::empty_fleet();
  if (!answer) return answer.error();
  const Json all = api::fleet(*answer, by);
  if (arguments.value("detail", false)) return all;
  Json short_form = pick(all, {"jobs", "by", "count", "window", "next", "missing", "unreadable"});
  const Json& rows = by == scan::By::kFamily ? all.at("families") : all.at("rows");
  short_form["rows"] =
      pick_each(rows,
                {"name", "jobs", "failed", "wasted_accelerator_s", "recoverable_accelerator_s",
                 "utilisation", "usd", "lever", "worst_job", "why", "has_spec"},
                options.report.rows);
  return short_form;
}

Result<Json> job_anatomy(const Json& arguments, ToolCall& call) {
  const scan::Anatomy anatomy = TRY(app::job_anatomy(call.config, arguments.value("job", "last")));
  Json all = api::anatomy(anatomy);
  if (arguments.value("detail", false)) return all;
  return pick(all, {"job", "family", "wall_s", "metric", "split_accelerator_s", "parts", "table"});
}

Result<Json> evidence_packet(const Json& arguments, ToolCall& call) {
  app::Context context = TRY(app::open_context(call.config, false));
  const std::string family = arguments.at("family");
  const brief::Role role =
      brief::role_named(arguments.value("role", "propose")).value_or(brief::Role::kPropose);
  Json brief = api::brief(TRY(app::brief_on(context, family, role)));
  // propose_change has a schema of its own, and the other tools have the detail.
  brief.erase("answer_schema");
  brief["more"] = {"query_profile", "code_findings", "search_ledger", "experiment_status"};
  return Json{{"family", family}, {"role", brief::name(role)}, {"brief", std::move(brief)}};
}

Result<Json> query_profile(const Json& arguments, ToolCall& call) {
  const std::string about = arguments.at("about");
  const Explained seen = TRY(explained(arguments.at("family"), call));
  const bool of_trace = about == "gaps" || about == "critical_path" || about == "what_if";
  Json answer = of_trace ? TRY(trace_answer(about, arguments, seen))
                         : profile_part(about, arguments, api::job_profile(seen.job));
  answer["family"] = seen.family.name;
  answer["about"] = about;
  return answer;
}

Result<Json> code_findings(const Json& arguments, ToolCall& call) {
  const Explained seen = TRY(explained(arguments.at("family"), call));
  const Json job = api::job_profile(seen.job);
  return Json{{"family", seen.family.name},
              {"repo", seen.family.spec.repo},
              {"findings", pick_each(job.at("findings"),
                                     {"file", "line", "rule", "snippet", "share", "ceiling",
                                      "cause", "because", "try", "patch"},
                                     arguments.value("limit", static_cast<std::size_t>(kRows)))}};
}

Result<Json> search_ledger(const Json& arguments, ToolCall& call) {
  app::Context context = TRY(app::open_context(call.config, false));
  const int limit = arguments.value("limit", kLedgerRows);
  const std::string family = arguments.value("family", "");
  const std::string state = arguments.value("state", "");
  Json rows = Json::array();
  if (const std::string words = arguments.value("words", ""); !words.empty()) {
    for (const ledger::HypothesisRow& row : TRY(context.ledger->search(words, limit))) {
      if (!family.empty() && row.hypothesis.family != family) continue;
      if (!state.empty() && row.state != state) continue;
      rows.push_back(row_of(row, TRY(context.ledger->verdict(row.hypothesis.id))));
    }
    return Json{{"hypotheses", rows}, {"before", nullptr}};
  }
  const app::HypothesisList list = TRY(app::list_hypotheses(
      context, {family, state, arguments.value("before", std::int64_t{0}), limit}));
  for (const auto& item : list.page.items) rows.push_back(row_of(item.row, item.verdict));
  const Json next = list.page.next == 0 ? Json() : Json(list.page.next);
  return Json{{"hypotheses", rows}, {"total", list.page.total}, {"before", next}};
}

Result<Json> experiment_status(const Json& arguments, ToolCall& call) {
  app::Context context = TRY(app::open_context(call.config, false));
  const ledger::HypothesisRow row = TRY(app::find_hypothesis(context, arguments.at("id")));
  app::Story story = TRY(app::story_of(context, row));
  const auto look = [&] {
    auto now = context.ledger->hypothesis(row.hypothesis.id);
    auto again = now ? app::story_of(context, *now) : Result<app::Story>(now.error());
    if (again) story = *std::move(again);
    return standing_of(story, call.runner.is_running()).settled;
  };
  wait_for(arguments, call, look);
  Json status = status_of(story, call.runner.is_running());
  if (arguments.value("detail", false)) status["story"] = api::story(story);
  return status;
}

Result<Json> loop_status(const Json& arguments, ToolCall& call) {
  wait_for(arguments, call, [&] { return !call.runner.is_running(); });
  Json answer = {{"session", call.runner.state()}};
  auto opened = app::open_context(call.config, false);
  if (!opened && opened.error().kind == Error::Kind::kNotFound) {
    answer["families"] = Json::array();
    answer["next"] = call.runner.grant().command.empty() ? opened.error().text
                     : call.runner.is_running()          ? "loop_status with wait_s"
                                                         : "adopt_job";
    return answer;
  }
  app::Context context = TRY(std::move(opened));
  const app::Status status = TRY(app::read_status(context));
  const Json all = api::status(status);
  answer.update(pick(all, {"tallies", "families", "queued", "in_flight", "budgets", "next", "lease",
                           "campaign", "rollbacks_proposed"}));
  answer["experiments"] = Json::array();
  for (const loop::ExperimentState& x : status.snapshot.experiments.state().experiments) {
    answer["experiments"].push_back(
        {{"hypothesis", x.hypothesis},
         {"family", x.family},
         {"title", status.snapshot.experiments.hypothesis(x.hypothesis).title},
         {"stage", x.parked ? "parked" : name(x.stage)},
         {"measured", measured(status.snapshot.experiments.comparison(x.id))}});
  }
  answer["waits_for_a_person"] = Json::array();
  for (const ledger::GateRow& row : status.pending) {
    answer["waits_for_a_person"].push_back({{"hypothesis", row.packet.hypothesis},
                                            {"family", row.packet.family},
                                            {"claim", row.packet.claim}});
  }
  return answer;
}

Result<Json> read_spec(const Json& arguments, ToolCall& call) {
  app::Context context = TRY(app::open_context(call.config, false));
  const ledger::Family family = TRY(app::need_family(context, arguments.at("family")));
  return Json{{"family", family.name},
              {"spec", encode(family.spec)},
              {"baseline", encode(family.baseline)},
              {"promoted", family.stack},
              {"profiled", family.profile.has_value()}};
}

}  // namespace amdahl::mcp
