#include "agent/codex/codex.h"

#include <cstdlib>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "agent/ended.h"
#include "base/text.h"
#include "brief/answer.h"
#include "os/files.h"

namespace amdahl::agent::codex {
namespace {

// Without these it calls home, searches the web, or waits for a network for ever.
constexpr auto kOff =
    std::to_array<const char*>({"plugins", "apps", "multi_agent", "goals", "hooks", "skill_search",
                                "shell_snapshot", "unbounded_connection_retries"});

std::int64_t count(const Json& usage, const char* field) {
  const auto found = usage.find(field);
  return found != usage.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

struct Events {
  std::optional<Tokens> tokens;
  std::string message;  // The last of the agent's.
  std::string failed;   // Why; empty if it did not.
  std::string error;    // The last top-level one, which may be a warning.
};

// An item of type "error" is a warning, and a top-level "error" may be followed by success.
Events events_in(const std::string& out) {
  Events events;
  for (const std::string_view line : split(out, '\n')) {
    if (!trim(line).starts_with('{')) continue;
    const auto json = brief::answer_in(line);
    if (!json) continue;
    const std::string type = json->value("type", Json()).is_string() ? json->at("type") : "";
    if (type == "turn.completed") {
      const Json usage = json->value("usage", Json::object());
      const std::int64_t input = count(usage, "input_tokens");
      events.tokens =
          Tokens{input, count(usage, "cached_input_tokens"), count(usage, "output_tokens")};
    } else if (type == "turn.failed") {
      const Json error = json->value("error", Json::object());
      events.failed = error.is_object() ? error.value("message", "it failed") : error.dump();
    } else if (type == "error") {
      events.error = json->value("message", "");
    } else if (type == "item.completed") {
      const Json item = json->value("item", Json::object());
      if (item.value("type", "") == "agent_message") events.message = item.value("text", "");
    }
  }
  return events;
}

std::vector<std::string> provider(const Runtime& runtime) {
  if (runtime.url.empty()) return {};
  std::string table = fmt::format(
      "model_providers.amdahl={{name=\"amdahl\",base_url={},wire_api=\"responses\","
      "request_max_retries=2,stream_max_retries=2,stream_idle_timeout_ms=120000",
      Json(runtime.url).dump());
  if (!runtime.key_env.empty()) table += ",env_key=\"AMDAHL_AGENT_KEY\"";
  return {"-c", "model_provider=amdahl", "-c", table + "}"};
}

ClientOrder order_for(const Runtime& runtime, const Question& question, Nanos limit,
                      const std::string& program) {
  ClientOrder order = client_order(question, limit);
  order.argv = {program,
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--ephemeral",
                "--sandbox",
                "read-only",
                "-C",
                order.workdir,
                "--output-schema",
                question.folder + "/schema.json",
                "-o",
                order.home + "/last.json",
                "-c",
                "analytics.enabled=false",
                "-c",
                "check_for_update_on_startup=false",
                "-c",
                "web_search=\"disabled\""};
  for (const char* feature : kOff) order.argv.insert(order.argv.end(), {"--disable", feature});
  const std::vector<std::string> more = provider(runtime);
  order.argv.insert(order.argv.end(), more.begin(), more.end());
  if (!runtime.model.empty()) order.argv.insert(order.argv.end(), {"-m", runtime.model});
  order.env["CODEX_HOME"] = order.home + "/.codex";
  if (runtime.own_configuration) {
    share_own_home(order, ".codex");
    order.env["CODEX_HOME"] = order.env["HOME"] + "/.codex";
  } else {
    order.argv.emplace_back("--ignore-user-config");
  }
  if (const char* key = std::getenv(runtime.key_env.c_str())) {
    order.env[runtime.url.empty() ? "OPENAI_API_KEY" : "AMDAHL_AGENT_KEY"] = key;
  }
  order.argv.emplace_back("-");
  return order;
}

}  // namespace

Turn read(const ClientEnd& end, const std::string& last) {
  Turn turn;
  Events events = events_in(end.out);
  turn.tokens = events.tokens;
  if (ended_early(end, turn)) return turn;
  if (!events.failed.empty() || end.exit_code != 0) {
    const std::string words = !events.failed.empty()  ? events.failed
                              : !events.error.empty() ? events.error
                                                      : describe_end(end);
    turn.failure = failure_of_words(words);
    turn.because = clip(words, 300);
    // Nothing was asked where nobody could be reached or let us in.
    const bool unasked =
        turn.failure == Failure::kNotAuthorised || turn.failure == Failure::kUnreachable;
    if (!turn.tokens && unasked) turn.tokens = Tokens{};
    return turn;
  }
  turn.said = last.empty() ? events.message : last;
  take_answer(turn);
  return turn;
}

Turn ask(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop) {
  const std::string program = find_program(runtime.program.empty() ? "codex" : runtime.program);
  if (program.empty()) return not_installed("codex", runtime.program);
  const ClientOrder order = order_for(runtime, question, limit, program);
  // It refuses to start where its home is missing.
  if (const auto made = os::make_dirs(order.home + "/.codex"); !made) {
    Turn turn;
    turn.failure = Failure::kFailed;
    turn.because = made.error().text;
    turn.tokens = Tokens{};
    return turn;
  }
  const ClientEnd end = run_client(order, stop);
  const auto last = os::read_head(order.home + "/last.json", question.most_bytes);
  return read(end, last ? *last : "");
}

Kind::State look(const Runtime& runtime) {
  return look_at_client(runtime, "codex", "npm install -g @openai/codex");
}

}  // namespace amdahl::agent::codex
