#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "agent/agent.h"
#include "agent/claude/claude.h"
#include "agent/codex/codex.h"
#include "agent/openai/openai.h"
#include "base/redact.h"
#include "base/text.h"
#include "brief/answer.h"
#include "os/clock.h"
#include "os/files.h"

namespace amdahl::agent {
namespace {

constexpr std::size_t kShownOfAnswer = 4000;

constexpr auto kKinds = std::to_array<Kind>({
    {"claude", "Claude Code", claude::ask, claude::look},
    {"codex", "Codex", codex::ask, codex::look},
    {"openai", "an OpenAI-compatible server", openai::ask, openai::look},
});

struct FailureName {
  Failure failure;
  std::string_view name;
};
constexpr auto kFailures = std::to_array<FailureName>({
    {Failure::kNone, "none"},
    {Failure::kNotInstalled, "not installed"},
    {Failure::kNotAuthorised, "not authorised"},
    {Failure::kUnreachable, "unreachable"},
    {Failure::kOverloaded, "overloaded"},
    {Failure::kTimeout, "timeout"},
    {Failure::kTurnLimit, "turn limit"},
    {Failure::kMoneyLimit, "money limit"},
    {Failure::kNoAnswer, "no answer"},
    {Failure::kInvalidAnswer, "invalid answer"},
    {Failure::kTooLong, "too long"},
    {Failure::kFailed, "failed"},
    {Failure::kInterrupted, "interrupted"},
});

struct ListPrice {
  std::string_view model;  // The start of its name.
  Price price;
};
// List prices, as clients of November 2026 charge them. Others: [agent] of the configuration.
constexpr auto kPrices = std::to_array<ListPrice>({
    {"sonnet", {2, 0.2, 10}},
    {"claude-sonnet-5-5", {2, 0.2, 10}},
});

// Asks, checks, and asks once more.
class Asking {
 public:
  Asking(const Runtime& runtime, const Question& question, const Stop& stop)
      : runtime_{runtime}, question_{question}, stop_{stop}, began_{os::real_clock().monotonic()} {}

  Reply run() {
    const auto kind = std::ranges::find(kKinds, runtime_.kind, &Kind::name);
    if (kind == kKinds.end()) {
      return end(Failure::kNotInstalled, fmt::format("no runtime '{}'", runtime_.kind));
    }
    if (const auto made = os::make_dirs(question_.folder + "/home"); !made) {
      return end(Failure::kFailed, made.error().text);
    }
    Turn turn = attempt(*kind);
    std::string wrong = problem_of(turn);
    if (!wrong.empty() && may_repair(turn)) {
      const std::string first = clip_bytes(turn.said);
      question_.prompt += fmt::format(
          "\nYour answer was refused:\n{}\nYou had answered:\n{}\nAnswer again, with the JSON "
          "object alone.\n",
          marked(wrong), marked(first));
      turn = attempt(*kind);
      wrong = problem_of(turn);
    }
    if (turn.failure != Failure::kNone) return end(turn.failure, turn.because);
    if (!wrong.empty()) return end(Failure::kInvalidAnswer, clip(wrong, 600));
    reply_.answer = *std::move(turn.answer);
    return end(Failure::kNone, "");
  }

 private:
  static std::string clip_bytes(const std::string& text) { return text.substr(0, kShownOfAnswer); }

  // What a model said is data, too.
  static std::string marked(const std::string& text) {
    std::string lines;
    for (const std::string_view line : split(text, '\n')) lines += fmt::format("| {}\n", line);
    return lines;
  }

  Nanos left() const { return began_ + question_.deadline - os::real_clock().monotonic(); }

  Turn attempt(const Kind& kind) {
    ++reply_.attempts;
    Turn turn;
    const auto written = os::write_file(question_.folder + "/prompt.txt", question_.prompt);
    const auto schema = os::write_file(question_.folder + "/schema.json",
                                       dump_json(brief::answer_schema(question_.role)));
    if (!written || !schema) {
      turn.failure = Failure::kFailed;
      turn.because = "cannot write the brief";
      turn.tokens = Tokens{};
    } else {
      turn = kind.ask(runtime_, question_, std::max(left(), Nanos{}), stop_);
    }
    if (turn.tokens) {
      reply_.tokens += *turn.tokens;
    } else {
      reply_.tokens_known = false;
    }
    if (turn.reported_usd) {
      reply_.reported_usd = reply_.reported_usd.value_or(0) + *turn.reported_usd;
    }
    keep(turn);
    return turn;
  }

  // For people; that it cannot be written stops nothing.
  void keep(const Turn& turn) const {
    Json row{{"attempt", reply_.attempts},
             {"prompt", question_.prompt},
             {"failure", name(turn.failure)},
             {"because", turn.because},
             {"said", turn.said},
             {"answer", turn.answer ? *turn.answer : Json()}};
    [[maybe_unused]] const auto kept =
        os::write_file(fmt::format("{}/transcript-{}.json", question_.folder, reply_.attempts),
                       pretty_json(redact(row)));
  }

  // What the model is told to do better; empty if nothing is wrong with its answer.
  std::string problem_of(const Turn& turn) const {
    if (turn.failure == Failure::kNoAnswer) return turn.because;
    if (turn.failure != Failure::kNone || !turn.answer) return "";
    const auto checked = brief::check_answer(question_.role, *turn.answer);
    return checked ? "" : checked.error().text;
  }

  bool may_repair(const Turn& turn) const {
    const bool talks = turn.failure == Failure::kNone || turn.failure == Failure::kNoAnswer;
    const bool paid_for = reply_.tokens_known && 2 * reply_.tokens.total() <= question_.most_tokens;
    return talks && paid_for && left() > std::chrono::seconds(1) && !(stop_ && stop_());
  }

  Reply end(Failure failure, std::string because) {
    reply_.failure = failure;
    reply_.because = redact(because);
    reply_.took = os::real_clock().monotonic() - began_;
    const auto price = runtime_.price ? runtime_.price : price_of(runtime_.model);
    if (price && reply_.tokens_known) reply_.cost = cost(reply_.tokens, *price);
    return std::move(reply_);
  }

  const Runtime& runtime_;
  Question question_;
  const Stop& stop_;
  Nanos began_;
  Reply reply_;
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

std::string_view name(Failure failure) {
  return std::ranges::find(kFailures, failure, &FailureName::failure)->name;
}

std::optional<Failure> failure_named(std::string_view name) {
  const auto row = std::ranges::find(kFailures, name, &FailureName::name);
  return row == kFailures.end() ? std::nullopt : std::optional(row->failure);
}

Tokens& Tokens::operator+=(const Tokens& more) {
  input += more.input;
  cached += more.cached;
  output += more.output;
  return *this;
}

std::optional<Price> price_of(std::string_view model) {
  for (const ListPrice& row : kPrices) {
    if (model.starts_with(row.model)) return row.price;
  }
  return std::nullopt;
}

Usd cost(const Tokens& tokens, const Price& price) {
  const auto fresh = static_cast<double>(tokens.input - tokens.cached);
  return Usd{(fresh * price.input + static_cast<double>(tokens.cached) * price.cached +
              static_cast<double>(tokens.output) * price.output) /
             1e6};
}

Json encode(const Reply& reply) {
  return {{"failure", name(reply.failure)},
          {"because", reply.because},
          {"answer", reply.answer ? *reply.answer : Json()},
          {"input_tokens", reply.tokens.input},
          {"cached_tokens", reply.tokens.cached},
          {"output_tokens", reply.tokens.output},
          {"tokens_known", reply.tokens_known},
          {"cost_usd", reply.cost ? Json(reply.cost->count()) : Json()},
          {"reported_usd", reply.reported_usd ? Json(*reply.reported_usd) : Json()},
          {"attempts", reply.attempts},
          {"took_ns", reply.took.count()}};
}

Result<Reply> decode_reply(const Json& json) {
  try {
    Reply reply;
    const auto failure = failure_named(json.at("failure").get<std::string>());
    if (!failure) return bad_input("/failure: unknown");
    reply.failure = *failure;
    reply.because = json.at("because").get<std::string>();
    if (!json.at("answer").is_null()) reply.answer = json.at("answer");
    reply.tokens = {json.at("input_tokens").get<std::int64_t>(),
                    json.at("cached_tokens").get<std::int64_t>(),
                    json.at("output_tokens").get<std::int64_t>()};
    reply.tokens_known = json.at("tokens_known").get<bool>();
    if (!json.at("cost_usd").is_null()) reply.cost = Usd{json.at("cost_usd").get<double>()};
    if (!json.at("reported_usd").is_null()) {
      reply.reported_usd = json.at("reported_usd").get<double>();
    }
    reply.attempts = json.at("attempts").get<int>();
    reply.took = Nanos{json.at("took_ns").get<std::int64_t>()};
    return reply;
  } catch (const Json::exception& e) {
    return bad_input(e.what());
  }
}

Reply ask(const Runtime& runtime, const Question& question, const Stop& stop) {
  return Asking(runtime, question, stop).run();
}

}  // namespace amdahl::agent
