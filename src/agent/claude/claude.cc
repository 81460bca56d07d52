#include "agent/claude/claude.h"

#include <cstdlib>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "agent/ended.h"
#include "base/text.h"
#include "brief/answer.h"

namespace amdahl::agent::claude {
namespace {

constexpr const char* kKey = "ANTHROPIC_API_KEY";

struct Subtype {
  std::string_view name;
  Failure failure;
};
constexpr auto kSubtypes = std::to_array<Subtype>({
    {"error_max_turns", Failure::kTurnLimit},
    {"error_max_budget_usd", Failure::kMoneyLimit},
    {"error_max_structured_output_retries", Failure::kInvalidAnswer},
    {"error_during_execution", Failure::kInterrupted},
});

std::int64_t count(const Json& usage, const char* field) {
  const auto found = usage.find(field);
  return found != usage.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Failure failure_of(const Json& result) {
  const std::string subtype = text_in(result, "subtype");
  for (const Subtype& row : kSubtypes) {
    if (row.name == subtype) return row.failure;
  }
  const auto status = result.find("api_error_status");
  if (status != result.end() && status->is_number_integer()) {
    return failure_of_status(status->get<int>());
  }
  return text_in(result, "terminal_reason") == "api_error" ? Failure::kUnreachable
                                                           : Failure::kFailed;
}

std::string why(const Json& result) {
  std::string text = text_in(result, "result");
  const auto errors = result.find("errors");
  if (errors != result.end() && errors->is_array()) {
    for (const Json& error : *errors) text += (text.empty() ? "" : "; ") + error.dump();
  }
  return clip(text, 300);
}

// The last JSON object of the output that is a result.
std::optional<Json> result_in(const std::string& out) {
  std::optional<Json> found;
  for (const std::string_view line : split(out, '\n')) {
    if (!trim(line).starts_with('{')) continue;
    auto json = brief::answer_in(line);
    if (json && json->value("type", Json()) == "result") found = *std::move(json);
  }
  return found;
}

ClientOrder order_for(const Runtime& runtime, const Question& question, Nanos limit,
                      const std::string& program) {
  ClientOrder order = client_order(question, limit);
  const std::string tools = question.checkout.empty() ? "" : "Read,Grep,Glob";
  order.argv = {program,
                "-p",
                "--output-format",
                "json",
                "--json-schema",
                brief::answer_schema(question.role).dump(),
                "--tools",
                tools,
                "--permission-mode",
                "dontAsk",
                "--strict-mcp-config",
                "--max-turns",
                fmt::format("{}", question.most_turns),
                "--max-budget-usd",
                fmt::format("{:.4f}", question.most_usd.count()),
                "--no-session-persistence"};
  if (!tools.empty()) order.argv.insert(order.argv.end(), {"--allowedTools", tools});
  if (!runtime.model.empty()) order.argv.insert(order.argv.end(), {"--model", runtime.model});
  if (runtime.own_configuration) {
    order.argv.insert(order.argv.end(), {"--restricted", "--setting-sources", ""});
    share_own_home(order, ".claude");
  } else {
    order.argv.emplace_back("--bare");
  }
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  order.env.insert({{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                    {"DISABLE_AUTOUPDATER", "1"},
                    {"CLAUDE_CODE_MAX_RETRIES", "2"},
                    {"API_TIMEOUT_MS", fmt::format("{}", ms)}});
  if (!runtime.url.empty()) order.env["ANTHROPIC_BASE_URL"] = runtime.url;
  if (const char* key = std::getenv(runtime.key_env.c_str())) order.env[kKey] = key;
  return order;
}

}  // namespace

Turn read(const ClientEnd& end) {
  Turn turn;
  const auto result = result_in(end.out);
  if (result) {
    if (const auto usage = result->find("usage"); usage != result->end() && usage->is_object()) {
      const std::int64_t cached = count(*usage, "cache_read_input_tokens");
      const std::int64_t fresh =
          count(*usage, "input_tokens") + count(*usage, "cache_creation_input_tokens");
      turn.tokens = Tokens{fresh + cached, cached, count(*usage, "output_tokens")};
    }
    const auto reported = result->find("total_cost_usd");
    if (reported != result->end() && reported->is_number()) {
      turn.reported_usd = reported->get<double>();
    }
  }
  if (ended_early(end, turn)) return turn;
  if (!result) {
    turn.failure = Failure::kFailed;
    turn.because = describe_end(end);
    return turn;
  }
  if (result->value("is_error", Json()) != false) {
    turn.failure = failure_of(*result);
    turn.because = why(*result);
    return turn;
  }
  turn.said = text_in(*result, "result");
  const auto structured = result->find("structured_output");
  if (structured != result->end() && structured->is_object()) {
    turn.answer = *structured;
  } else {
    take_answer(turn);
  }
  return turn;
}

Turn ask(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop) {
  const std::string program = find_program(runtime.program.empty() ? "claude" : runtime.program);
  if (program.empty()) return not_installed("claude", runtime.program);
  return read(run_client(order_for(runtime, question, limit, program), stop));
}

Kind::State look(const Runtime& runtime) {
  return look_at_client(runtime, "claude", "npm install -g @anthropic-ai/claude-code");
}

}  // namespace amdahl::agent::claude
