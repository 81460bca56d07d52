#include "agent/openai/openai.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "agent/ended.h"
#include "base/redact.h"
#include "base/text.h"
#include "brief/answer.h"
#include "os/clock.h"

namespace amdahl::agent::openai {
namespace {

std::vector<std::string> headers_for(const Runtime& runtime) {
  std::vector<std::string> headers{"Content-Type: application/json"};
  if (const char* key = std::getenv(runtime.key_env.c_str())) {
    headers.push_back(fmt::format("Authorization: Bearer {}", key));
  }
  return headers;
}

std::string endpoint(const Runtime& runtime, std::string_view path) {
  std::string url = runtime.url;
  while (url.ends_with('/')) url.pop_back();
  return url + std::string(path);
}

Json request_for(const Runtime& runtime, const Question& question, std::string_view prompt) {
  const std::int64_t left = question.most_tokens - brief::tokens_in(prompt);
  return {{"model", runtime.model},
          {"messages", {{{"role", "user"}, {"content", prompt}}}},
          {"max_tokens", std::max<std::int64_t>(256, left)},
          {"response_format",
           {{"type", "json_schema"},
            {"json_schema",
             {{"name", name(question.role)},
              {"strict", true},
              {"schema", brief::answer_schema(question.role)}}}}}};
}

std::int64_t count(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

void take_usage(const Json& body, Turn& turn) {
  const auto usage = body.find("usage");
  if (usage == body.end() || !usage->is_object()) return;
  turn.tokens = Tokens{count(*usage, "prompt_tokens"), 0, count(*usage, "completion_tokens")};
  const auto details = usage->find("prompt_tokens_details");
  if (details != usage->end() && details->is_object()) {
    turn.tokens->cached = count(*details, "cached_tokens");
  }
}

Turn failed(Failure failure, std::string because, std::optional<Tokens> tokens) {
  Turn turn;
  turn.failure = failure;
  turn.because = clip(redact(because), 300);
  turn.tokens = tokens;
  return turn;
}

// A timeout after the request was taken leaves it open what was used.
Turn no_answer(const Error& error) {
  if (error.kind == Error::Kind::kUnsupported) return failed(Failure::kTooLong, error.text, {});
  if (contains(error.text, "interrupted")) return failed(Failure::kInterrupted, error.text, {});
  if (contains(error.text, "timeout")) return failed(Failure::kTimeout, error.text, {});
  return failed(Failure::kUnreachable, error.text, Tokens{});
}

}  // namespace

Turn read(const Result<os::HttpAnswer>& answer) {
  if (!answer) return no_answer(answer.error());
  if (answer->status != 200) {
    const Failure failure = failure_of_status(answer->status);
    return failed(failure, fmt::format("status {}: {}", answer->status, clip(answer->body, 200)),
                  Tokens{});
  }
  const auto body = brief::answer_in(answer->body);
  if (!body) return failed(Failure::kFailed, "the server's reply: " + body.error().text, {});
  Turn turn;
  take_usage(*body, turn);
  const Json::json_pointer content("/choices/0/message/content");
  const Json::json_pointer finish("/choices/0/finish_reason");
  if (body->contains(finish) && body->at(finish) == "length") {
    turn.failure = Failure::kTooLong;
    turn.because = "the answer was cut at the token limit";
    return turn;
  }
  if (!body->contains(content) || !body->at(content).is_string()) {
    turn.failure = Failure::kNoAnswer;
    turn.because = "the reply has no content";
    return turn;
  }
  turn.said = body->at(content).get<std::string>();
  take_answer(turn);
  return turn;
}

Turn ask(const Runtime& runtime, const Question& question, Nanos limit, const Stop& stop) {
  const std::unique_ptr<os::Http> http = os::make_http();
  os::HttpRequest request;
  request.url = endpoint(runtime, "/chat/completions");
  request.post = true;
  request.form = request_for(runtime, question, question.prompt).dump();
  request.headers = headers_for(runtime);
  request.limit = limit;
  request.most_bytes = question.most_bytes;
  return read(http->ask(request, stop));
}

Kind::State look(const Runtime& runtime) {
  if (const auto checked = os::check_address(runtime.url); !checked) {
    return {false, checked.error().text, "set agent.local to http://HOST:PORT/v1"};
  }
  os::HttpRequest request;
  request.url = endpoint(runtime, "/models");
  request.headers = headers_for(runtime);
  request.connect_limit = std::chrono::seconds(2);
  request.limit = std::chrono::seconds(5);
  request.most_bytes = 4 << 20;
  const auto answer = os::make_http()->ask(request, {});
  if (!answer) return {false, answer.error().text, "start the server"};
  if (answer->status != 200) {
    return {false, fmt::format("{}: status {}", os::shown_address(runtime.url), answer->status),
            "check the address and the key"};
  }
  return {true,
          fmt::format("{}, model {}; {}", os::shown_address(runtime.url), runtime.model,
                      who_pays(runtime)),
          ""};
}

}  // namespace amdahl::agent::openai
