#include "fleet/slurm/json.h"

#include <optional>
#include <string>

#include <fmt/core.h>
#include <simdjson.h>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/slurm/tres.h"

namespace amdahl::fleet::slurm {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

// The member at `path` ("time", "start"), or nothing.
std::optional<element> member(element in, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    object here;
    if (in.get(here) != simdjson::SUCCESS || here[key].get(in) != simdjson::SUCCESS) {
      return std::nullopt;
    }
  }
  return in;
}

// A number in any of the ways that releases write it: 7, "7", {"set": true, "infinite": false,
// "number": 7}; nothing for null, unset and infinite.
std::optional<std::int64_t> number(std::optional<element> in) {
  if (!in) return std::nullopt;
  std::int64_t whole = 0;
  if (in->get(whole) == simdjson::SUCCESS) return whole;
  if (std::string_view text; in->get(text) == simdjson::SUCCESS) {
    return to_number<std::int64_t>(text);
  }
  if (double real = 0; in->get(real) == simdjson::SUCCESS && real > -9e18 && real < 9e18) {
    return static_cast<std::int64_t>(real);
  }
  const auto inner = member(*in, {"number"});
  if (!inner) return std::nullopt;
  for (const auto& [key, wanted] : {std::pair{"set", true}, std::pair{"infinite", false}}) {
    const auto flag = member(*in, {key});
    bool is = wanted;
    if (flag && flag->get(is) == simdjson::SUCCESS && is != wanted) return std::nullopt;
  }
  if (inner->get(whole) == simdjson::SUCCESS) return whole;
  return std::nullopt;
}

std::string_view text(element in, std::initializer_list<std::string_view> path) {
  const auto found = member(in, path);
  std::string_view view;
  if (!found || found->get(view) != simdjson::SUCCESS) return {};
  return view;
}

std::string number_text(element in, std::initializer_list<std::string_view> path) {
  const auto found = number(member(in, path));
  return found ? std::to_string(*found) : std::string();
}

// 22.05: "COMPLETED"; later a list, whose first word is the state and the others are flags.
std::string_view state(element job) {
  const auto current = member(job, {"state", "current"});
  std::string_view word;
  if (!current) return text(job, {"state"});
  if (current->get(word) == simdjson::SUCCESS) return word;
  simdjson::dom::array words;
  if (current->get(words) != simdjson::SUCCESS) return {};
  for (const element each : words) {
    if (each.get(word) == simdjson::SUCCESS) return word;
  }
  return {};
}

// [{"type": "gres", "name": "gpu:a100", "count": 2}] as sacct's text writes it.
std::string tres(element job, std::string_view which) {
  const auto list = member(job, {"tres", which});
  simdjson::dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS) return {};
  std::string out;
  for (const element item : items) {
    const auto count = number(member(item, {"count"}));
    if (!count) continue;
    const std::string_view name = text(item, {"name"});
    out += fmt::format("{}{}{}{}={}", out.empty() ? "" : ",", text(item, {"type"}),
                       name.empty() ? "" : "/", name, *count);
  }
  return out;
}

// "90_3" of an array, "98+1" of a het job, else the number.
std::string id_of(element job, const std::string& raw) {
  const auto array = number(member(job, {"array", "job_id"}));
  const auto task = number(member(job, {"array", "task_id"}));
  if (array && *array > 0 && task) return fmt::format("{}_{}", *array, *task);
  const auto het = number(member(job, {"het", "job_id"}));
  const auto offset = number(member(job, {"het", "job_offset"}));
  if (het && *het > 0 && offset) return fmt::format("{}+{}", *het, *offset);
  return raw;
}

// A job as squeue and scontrol write it, with the texts that its fields view.
struct Live {
  std::string raw, id, submit, start, end, nodes;
  JobFields words;
};

void read_live(element job, Live& live) {
  live.raw = number_text(job, {"job_id"});
  live.id = live.raw;
  const auto array = number(member(job, {"array_job_id"}));
  const auto task = number(member(job, {"array_task_id"}));
  const auto het = number(member(job, {"het_job_id"}));
  const auto offset = number(member(job, {"het_job_offset"}));
  if (array && *array > 0 && task) live.id = fmt::format("{}_{}", *array, *task);
  if (het && *het > 0 && offset) live.id = fmt::format("{}+{}", *het, *offset);
  live.submit = number_text(job, {"submit_time"});
  live.start = number_text(job, {"start_time"});
  live.end = number_text(job, {"end_time"});
  live.nodes = number_text(job, {"node_count"});
  JobFields& words = live.words;
  const auto state = member(job, {"job_state"});
  simdjson::dom::array states;
  if (state && state->get(words.state) != simdjson::SUCCESS &&
      state->get(states) == simdjson::SUCCESS) {
    for (const element each : states) {
      if (each.get(words.state) == simdjson::SUCCESS) break;
    }
  }
  // Of a job that runs the end is when its time will be up; of one that waits, a forecast.
  const model::JobState known = state_of(words.state);
  const bool over = known != model::JobState::kRunning && known != model::JobState::kPending;
  words.id = live.id;
  words.raw = live.raw;
  words.cluster = text(job, {"cluster"});
  words.name = text(job, {"name"});
  words.user = text(job, {"user_name"});
  words.account = text(job, {"account"});
  words.partition = text(job, {"partition"});
  words.submit = live.submit;
  words.start = live.start;
  if (over) words.end = live.end;
  words.nodes = live.nodes;
  words.node_list = text(job, {"nodes"});
  words.alloc_tres = text(job, {"tres_alloc_str"});
  words.req_tres = text(job, {"tres_req_str"});
  words.script = text(job, {"command"});
}

// "gpu:a100:2(IDX:0-1)" for each of its hosts, in their order.
void give_devices(element job, const Live& live, Intake& intake) {
  const auto list = member(job, {"gres_detail"});
  simdjson::dom::array items;
  const auto hosts = expand_hosts(live.words.node_list, 100'000);
  if (!list || list->get(items) != simdjson::SUCCESS || !hosts || hosts->size() != items.size()) {
    return;
  }
  std::size_t at = 0;
  for (const element item : items) {
    const std::string& host = (*hosts)[at++];
    std::string_view detail;
    if (item.get(detail) != simdjson::SUCCESS) continue;
    for (const Gres& gres : accelerators_of_gres(detail)) {
      for (const int index : expand_indices(gres.indices)) {
        intake.tell(Assignment{live.words.raw, host, std::to_string(index)});
      }
    }
  }
}

// As sacct writes it: "1:0".
std::string exit_code_of(element job) {
  const auto code = number(member(job, {"exit_code", "return_code"}));
  auto signal = number(member(job, {"exit_code", "signal", "id"}));
  if (!signal) signal = number(member(job, {"exit_code", "signal", "signal_id"}));
  return code || signal ? fmt::format("{}:{}", code.value_or(0), signal.value_or(0)) : "";
}

}  // namespace

struct Json::Parser {
  simdjson::dom::parser parser;
};

Json::Json(Intake& intake, Jobs& jobs)
    : intake_{intake},
      jobs_{jobs},
      parser_{std::make_unique<Parser>()},
      items_{[this](std::string_view key, std::string_view item, std::uint64_t byte) {
        this->item(key, item, {.line = 0, .byte = byte});
      }} {}

Json::~Json() = default;

void Json::item(std::string_view key, std::string_view item, Where where) {
  if (key != "jobs" && key != "errors") return;
  element job;
  if (parser_->parser.parse(item.data(), item.size()).get(job) != simdjson::SUCCESS) {
    intake_.trouble(model::Trouble::kBadLine, where, "is not JSON");
    return;
  }
  if (key == "errors") {
    std::string_view said = text(job, {"description"});
    if (said.empty()) said = text(job, {"error"});
    if (said.empty()) said = "Slurm reports an error without a reason";
    intake_.trouble(model::Trouble::kMissing, where, said);
    return;
  }
  if (member(job, {"job_state"})) {
    Live live;
    read_live(job, live);
    jobs_.take(live.words, where);
    if (!live.raw.empty()) give_devices(job, live, intake_);
    return;
  }
  const std::string raw = number_text(job, {"job_id"});
  const std::string id = id_of(job, raw);
  const std::string submit = number_text(job, {"time", "submission"});
  const std::string start = number_text(job, {"time", "start"});
  const std::string end = number_text(job, {"time", "end"});
  const std::string elapsed = number_text(job, {"time", "elapsed"});
  const std::string limit = number_text(job, {"time", "limit"});
  const std::string nodes = number_text(job, {"allocation_nodes"});
  const std::string allocated = tres(job, "allocated");
  const std::string requested = tres(job, "requested");
  const std::string exit_code = exit_code_of(job);
  simdjson::dom::array steps;
  if (const auto list = member(job, {"steps"});
      list && list->get(steps) == simdjson::SUCCESS && steps.size() > 0) {
    intake_.troubles(model::Trouble::kStep, steps.size());
  }
  jobs_.take(JobFields{.id = id,
                       .raw = raw,
                       .cluster = text(job, {"cluster"}),
                       .name = text(job, {"name"}),
                       .user = text(job, {"user"}).empty() ? text(job, {"association", "user"})
                                                           : text(job, {"user"}),
                       .account = text(job, {"account"}),
                       .partition = text(job, {"partition"}),
                       .state = state(job),
                       .submit = submit,
                       .start = start,
                       .end = end,
                       .elapsed_raw = elapsed,
                       .elapsed = {},
                       .limit_raw = limit,
                       .limit = {},
                       .nodes = nodes,
                       .node_list = text(job, {"nodes"}),
                       .alloc_tres = allocated,
                       .req_tres = requested,
                       .alloc_gres = {},
                       .req_gres = {},
                       .script = text(job, {"submit_line"}),
                       .exit_code = exit_code,
                       .admin_comment = text(job, {"comment", "administrator"})},
             where);
}

Result<> Json::feed(std::string_view bytes) {
  if (!begun_) {
    const std::size_t begin = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (begin == bytes.npos) return Ok{};
    begun_ = true;
    is_list_ = bytes[begin] == '[';
    if (is_list_) TRY(items_.feed("{\"jobs\":"));
  }
  return items_.feed(bytes);
}

Result<> Json::finish() {
  if (is_list_) TRY(items_.feed("}"));
  if (!items_.whole()) {
    intake_.trouble(model::Trouble::kTruncated, {.line = 0, .byte = items_.byte()},
                    "the JSON document is not closed");
  }
  return Ok{};
}

}  // namespace amdahl::fleet::slurm
