#include "app/attacks.h"

#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/ask_folder.h"
#include "base/redact.h"
#include "base/shown.h"
#include "base/text.h"
#include "ledger/event.h"
#include "ledger/ledger.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kLongestReason = 600;
constexpr int kEventsOfAsk = 5;

// Each question takes one, so that two do not make the same attack.
constexpr auto kAngles = std::to_array<std::string_view>({
    "The variant does less work or other work than the baseline, and neither its outputs nor what "
    "it reports show it.",
    "Something is carried over from an earlier run, another arm or a cache that production does "
    "not "
    "have.",
    "Time was moved out of what is measured: to other phases, other resources or later runs.",
    "It holds only for the inputs, hosts or hours that were measured.",
    "Chance, the order of the arms or a few unusual pairs explain it.",
});

std::string runtime_of(const ledger::Ask& ask) {
  const auto request = parse_json(ask.request);
  return request ? show(decode_runtime(request->value("runtime", Json::object()))) : ask.id;
}

Result<Json> vote_of(Context& context, const std::string& question) {
  for (const ledger::Event& event : TRY(context.ledger->events(question, 0, kEventsOfAsk))) {
    if (event.kind == "ask.settled") return event.payload.value("attack", Json::object());
  }
  return Json::object();
}

std::string sentence_of(const Attack& attack) {
  std::vector<std::string> numbers;
  for (const Json& row : attack.numbers) {
    numbers.push_back(fmt::format("{} {}", row.value("name", ""), row.value("value", 0.0)));
  }
  return attack.because + (numbers.empty() ? "" : fmt::format(" ({})", join(numbers, ", ")));
}

}  // namespace

Result<Attack> attack_in(const Json& answer) {
  Attack attack;
  attack.because =
      clip(on_one_line(redact(answer.at("because").get<std::string>())), kLongestReason);
  if (answer.at("vote") != "refute") return attack;
  attack.vote = model::Vote::kRefute;
  attack.check = answer.at("check").get<std::string>();
  attack.numbers = answer.at("numbers");
  if (attack.check.empty()) return bad_input("it refutes and names no check that would settle it");
  if (attack.numbers.empty()) return bad_input("it refutes without a number");
  return attack;
}

Json encode(const Attack& attack) {
  return {{"vote", name(attack.vote)},
          {"check", attack.check},
          {"because", attack.because},
          {"numbers", attack.numbers}};
}

std::string outcome_of(const Attack& attack) {
  return attack.vote == model::Vote::kRefute ? "refuted: " + attack.check : "abstained";
}

std::string describe(const Attack& attack) {
  if (!attack.settled) return "is being asked";
  const std::string says = sentence_of(attack);
  if (attack.vote == model::Vote::kRefute) {
    return fmt::format("refutes, '{}' pairs settle it: {}", attack.check, says);
  }
  return says.empty() ? "abstains" : "abstains: " + says;
}

std::string show_attacks(const std::vector<Attack>& attacks) {
  std::string text;
  for (const Attack& attack : attacks) {
    text += fmt::format("  {:<8} {:<10} {}: {}\n", attack.settled ? name(attack.vote) : "open",
                        attack.check, attack.by, sentence_of(attack));
  }
  return text;
}

Result<std::vector<Attack>> attacks_on(Context& context, const std::string& family,
                                       const std::string& experiment) {
  std::vector<Attack> attacks;
  for (const ledger::Ask& ask : TRY(context.ledger->asks(family, ""))) {
    if (ask.role != "attack" || ask.about != experiment) continue;
    Attack attack;
    attack.question = ask.id;
    attack.by = runtime_of(ask);
    attack.settled = ask.state == "settled";
    const Json said = attack.settled ? TRY(vote_of(context, ask.id)) : Json::object();
    // An answer that failed is an abstention: nothing that a model leaves out counts.
    attack.vote = said.value("vote", "") == "refute" ? model::Vote::kRefute : model::Vote::kAbstain;
    attack.check = said.value("check", "");
    attack.because = said.value("because", ask.outcome);
    attack.numbers = said.value("numbers", Json::array());
    attacks.push_back(std::move(attack));
  }
  return attacks;
}

std::string_view angle(int n) {
  const auto at = static_cast<std::size_t>(n);
  return at < kAngles.size() ? kAngles[at] : "";
}

}  // namespace amdahl::app
