#include "launch/command/answers.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace amdahl::launch::command {
namespace {

constexpr auto kLiving = std::to_array<RunState>(
    {RunState::kUnknown, RunState::kHeld, RunState::kQueued, RunState::kRunning});
constexpr auto kEnded = std::to_array<RunState>(
    {RunState::kPreempted, RunState::kNodeFailed, RunState::kTimedOut, RunState::kOutOfMemory});

Result<std::string> text_in(const Json& json, const char* name, bool wanted) {
  if (!json.contains(name) && !wanted) return std::string();
  if (!json.contains(name)) return bad_input(fmt::format("/{} is missing", name));
  if (!json.at(name).is_string()) return bad_input(fmt::format("/{} must be text", name));
  return json.at(name).get<std::string>();
}

Result<double> number_in(const Json& json, const char* name) {
  if (!json.contains(name) || !json.at(name).is_number() || json.at(name).get<double>() < 0) {
    return bad_input(fmt::format("/{} must be a number of at least 0", name));
  }
  return json.at(name).get<double>();
}

Result<Answer> parse_answer(const Json& json) {
  if (!json.is_object()) return bad_input("must be an object");
  Answer answer;
  answer.name = TRY(text_in(json, "name", true));
  answer.answer = TRY(text_in(json, "answer", true));
  answer.id = TRY(text_in(json, "id", false));
  answer.reason = TRY(text_in(json, "reason", false));
  if (!json.contains("charge")) return answer;
  const Json& charge = json.at("charge");
  if (!charge.is_object()) return bad_input("/charge must be an object");
  answer.charge = Charge{from_seconds(TRY(number_in(charge, "wall_s").in("/charge"))),
                         static_cast<int>(TRY(number_in(charge, "accelerators").in("/charge"))),
                         static_cast<int>(TRY(number_in(charge, "cpus").in("/charge")))};
  return answer;
}

Result<Json> object_in(std::string_view text) {
  Json json = TRY(parse_json(std::string(text)));
  if (!json.is_object()) return bad_input("must be an object");
  return json;
}

}  // namespace

Result<std::vector<Answer>> parse_answers(std::string_view text,
                                          const std::vector<std::string>& names) {
  const Json json = TRY(object_in(text));
  if (!json.contains("answers") || !json.at("answers").is_array()) {
    return bad_input("/answers must be a list");
  }
  std::map<std::string, Answer> found;
  for (const Json& row : json.at("answers")) {
    Answer answer = TRY(parse_answer(row).in(fmt::format("/answers/{}", found.size())));
    const std::string name = answer.name;
    const bool asked = std::ranges::find(names, name) != names.end();
    if (!asked) return bad_input(fmt::format("unexpected answer about '{}'", name));
    if (!found.emplace(name, std::move(answer)).second) {
      return bad_input(fmt::format("two answers about '{}'", name));
    }
  }
  std::vector<Answer> answers;
  for (const std::string& name : names) {
    const auto answer = found.find(name);
    if (answer == found.end()) return bad_input(fmt::format("no answer about '{}'", name));
    answers.push_back(answer->second);
  }
  return answers;
}

Result<Capacity> parse_capacity(std::string_view text) {
  const Json json = TRY(object_in(text));
  Capacity capacity;
  capacity.room = static_cast<int>(TRY(number_in(json, "room")));
  capacity.waiting =
      json.contains("waiting") ? static_cast<int>(TRY(number_in(json, "waiting"))) : 0;
  capacity.hardware = TRY(text_in(json, "hardware", true));
  capacity.never = TRY(text_in(json, "never", false));
  return capacity;
}

SubmitAnswer submit_answer(const Answer& answer) {
  if (answer.answer == "refused") return {Handover::kRefused, "", answer.reason};
  if (answer.answer == "accepted" && !answer.id.empty()) {
    return {Handover::kAccepted, worker_id(answer.id, answer.name)};
  }
  return {Handover::kUnknown, "",
          answer.reason.empty() ? fmt::format("the plug-in answered '{}'", answer.answer)
                                : answer.reason};
}

RunStatus decide(const std::optional<Answer>& answer, const std::string& problem,
                 const FolderFacts& facts) {
  RunStatus status;
  if (!facts.submitted && !facts.started) {
    status.state = facts.cancelled ? RunState::kLost : RunState::kAbsent;
    return status;
  }
  if (!answer) {
    status.why = problem;
    return status;
  }
  if (!answer->id.empty()) status.worker = worker_id(answer->id, answer->name);
  status.why = answer->reason;
  const auto named = run_state_named(answer->answer);
  if (answer->answer == "absent") {
    if (facts.cancelled && !facts.started) {
      status.state = RunState::kLost;  // Even if it appears, its worker sees the mark.
    } else if (!facts.long_absent) {
      status.why = "the scheduler does not show it; looking again later";
    } else if (facts.done) {
      status.state = RunState::kFinished;
    } else {
      status.state = facts.started || facts.cancelled ? RunState::kLost : RunState::kAbsent;
    }
    return status;
  }
  if (named && std::ranges::find(kLiving, *named) != kLiving.end()) {
    status.state = *named;
    const bool waits = *named == RunState::kHeld || *named == RunState::kQueued;
    if (waits && facts.had_started && !facts.done) status.state = RunState::kRequeued;
    return status;
  }
  const bool ended_by_place = named && std::ranges::find(kEnded, *named) != kEnded.end();
  if (answer->answer != "ended" && !ended_by_place) {
    status.why = fmt::format("the plug-in answered '{}'", answer->answer);
    return status;
  }
  status.charge = answer->charge;
  if (status.charge) status.elapsed = status.charge->wall;
  status.state = ended_by_place ? *named : RunState::kLost;
  // The worker writes receipts when the place ends it, too: those are no evidence.
  const bool taken = status.state == RunState::kPreempted || status.state == RunState::kNodeFailed;
  if (facts.done && !taken) status.state = RunState::kFinished;
  return status;
}

std::string worker_id(const std::string& id, const std::string& name) {
  return fmt::format("command:{}:{}", id, name);
}

}  // namespace amdahl::launch::command
