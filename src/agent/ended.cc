#include "agent/ended.h"

#include <array>
#include <cstdlib>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/redact.h"
#include "base/text.h"
#include "brief/answer.h"
#include "os/bubblewrap.h"
#include "os/host.h"

namespace amdahl::agent {
namespace {

constexpr std::size_t kLastWords = 300;

struct Words {
  std::string_view words;
  Failure failure;
};
constexpr auto kWords = std::to_array<Words>({
    {"status 401", Failure::kNotAuthorised},
    {"status 403", Failure::kNotAuthorised},
    {"missing environment variable", Failure::kNotAuthorised},
    {"api key", Failure::kNotAuthorised},
    {"status 429", Failure::kOverloaded},
    {"status: 429", Failure::kOverloaded},
    {"status 503", Failure::kOverloaded},
    {"status 529", Failure::kOverloaded},
    {"usage limit", Failure::kOverloaded},
    {"connection refused", Failure::kUnreachable},
    {"error sending request", Failure::kUnreachable},
    {"could not connect", Failure::kUnreachable},
    {"could not resolve", Failure::kUnreachable},
    {"stream disconnected", Failure::kUnreachable},
    {"timed out", Failure::kUnreachable},
    {"timeout", Failure::kUnreachable},
});

}  // namespace

ClientOrder client_order(const Question& question, Nanos limit) {
  ClientOrder order;
  order.home = question.folder + "/home";
  order.input_file = question.folder + "/prompt.txt";
  order.env = allowed_environment();
  order.env["HOME"] = order.home;
  order.workdir = question.checkout.empty() ? order.home : question.checkout;
  order.readable = {question.folder};
  if (!question.checkout.empty()) order.readable.push_back(question.checkout);
  order.limit = limit;
  order.most_bytes = question.most_bytes;
  return order;
}

void share_own_home(ClientOrder& order, const std::string& folder) {
  const std::string home = os::env_or("HOME", "/root");
  order.env["HOME"] = home;
  order.readable.push_back(home + "/" + folder);
  order.readable.push_back(home + "/" + folder + ".json");
}

std::string describe_end(const ClientEnd& end) {
  const std::string words(trim(end.errors.empty() ? end.out : end.errors));
  const std::size_t from = words.size() > kLastWords ? words.size() - kLastWords : 0;
  return fmt::format(
      "{}{}{}", end.exit_code < 0 ? "ended by a signal" : fmt::format("exit {}", end.exit_code),
      words.empty() ? "" : ": ", redact(words.substr(from)));
}

bool ended_early(const ClientEnd& end, Turn& turn) {
  if (!end.not_started.empty()) {
    turn.failure = Failure::kNotInstalled;
    turn.because = end.not_started;
    turn.tokens = Tokens{};
  } else if (end.too_long) {
    turn.failure = Failure::kTooLong;
    turn.because = "it printed more than is allowed, and was ended";
  } else if (end.timed_out) {
    turn.failure = Failure::kTimeout;
    turn.because = "it was not done by the deadline, and was ended";
  } else if (end.stopped) {
    turn.failure = Failure::kInterrupted;
    turn.because = "it was asked to end";
  }
  // Who is cut off in the middle counts only what was done before.
  const bool cut_off = end.too_long || end.timed_out || end.stopped;
  if (cut_off && turn.tokens && turn.tokens->total() == 0) turn.tokens.reset();
  return turn.failure != Failure::kNone;
}

void take_answer(Turn& turn) {
  auto answer = brief::answer_in(turn.said);
  if (answer) {
    turn.answer = *std::move(answer);
    return;
  }
  turn.failure = Failure::kNoAnswer;
  turn.because = answer.error().text;
}

Failure failure_of_status(int status) {
  if (status == 401 || status == 402 || status == 403) return Failure::kNotAuthorised;
  if (status == 429 || status == 503 || status == 529) return Failure::kOverloaded;
  if (status == 408 || status == 504) return Failure::kUnreachable;
  return Failure::kFailed;
}

Failure failure_of_words(std::string_view words) {
  const std::string text = lower(words);
  for (const Words& row : kWords) {
    if (contains(text, row.words)) return row.failure;
  }
  return Failure::kFailed;
}

Turn not_installed(std::string_view client, const std::string& program) {
  Turn turn;
  turn.failure = Failure::kNotInstalled;
  turn.because = fmt::format("no program {}", program.empty() ? std::string(client) : program);
  turn.tokens = Tokens{};
  return turn;
}

std::string who_pays(const Runtime& runtime) {
  if (runtime.own_configuration) return "pays: the login that its own configuration holds";
  if (runtime.key_env.empty()) return "pays: nobody, no key is used";
  return fmt::format("pays: the owner of the key in {}", runtime.key_env);
}

Kind::State look_at_client(const Runtime& runtime, const std::string& client,
                           const std::string& install) {
  const std::string program = find_program(runtime.program.empty() ? client : runtime.program);
  if (program.empty()) return {false, fmt::format("no program {}", client), install};
  const bool no_key = !runtime.key_env.empty() && !std::getenv(runtime.key_env.c_str());
  if (no_key) {
    return {false, fmt::format("{}; {} is not set", program, runtime.key_env),
            fmt::format("export {}=…", runtime.key_env)};
  }
  std::string why_not;
  const bool boxed = os::has_bubblewrap(&why_not);
  return {
      true,
      fmt::format("{}, model {}; {}; {}", program,
                  runtime.model.empty() ? "the client's default" : runtime.model, who_pays(runtime),
                  boxed ? "in bubblewrap" : fmt::format("without a sandbox: {}", why_not)),
      ""};
}

}  // namespace amdahl::agent
