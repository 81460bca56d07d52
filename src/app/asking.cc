#include "app/asking.h"

#include <algorithm>
#include <csignal>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/answer.h"
#include "app/ask_folder.h"
#include "app/attacks.h"
#include "app/work.h"
#include "base/hash.h"
#include "base/text.h"
#include "brief/answer.h"
#include "ledger/event.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/lock.h"

namespace amdahl::app {
namespace {

constexpr int kMostAsked = 3;
constexpr Nanos kStartsWithin = std::chrono::seconds(10);

// One question in flight.
class Collecting {
 public:
  Collecting(Context& context, const ledger::Ask& ask, std::int64_t fence, const Say& say)
      : context_{context},
        ask_{ask},
        folder_{ask_folder(context, ask.id)},
        fence_{fence},
        say_{say} {}

  // Whether it was settled.
  Result<bool> settle() {
    const auto reply = os::read_file(folder_.reply());
    if (reply) return take(*reply);
    if (WorkFolder(context_).is_claimed(ask_.id)) return false;  // By a helper that lives.
    if (os::FileLock::is_held(folder_.claim())) return end_if_overdue();
    if (os::exists(folder_.reply())) return false;  // Just now: the next look takes it.
    if (os::exists(folder_.started())) {
      return lose("its worker died before it had an answer", ask_.reserved);
    }
    Nanos offered = context_.clock->monotonic() - age();
    if (WorkFolder(context_).leave({Piece::Kind::kAsk, ask_.id}, fence_, offered)) return false;
    return start_again();
  }

 private:
  Nanos age() const { return context_.clock->unix_time() - ask_.at; }

  Result<bool> start_again() {
    const auto handed = os::read_file(folder_.handed());
    const auto times = handed ? static_cast<int>(handed->size()) : 0;
    if (times > 0 && age() < times * kStartsWithin) return false;
    if (times >= kMostAsked) {
      return lose(fmt::format("it was handed over {} times, and no worker began it", times), {});
    }
    const Json request = TRY(parse_json(ask_.request).in(ask_.id));
    const auto handed_over = hand_over(folder_, request);
    if (!handed_over) say_(fmt::format("{}: {}", ask_.family, handed_over.error().text));
    return false;
  }

  // The worker ends by itself at its deadline, unless it is stopped or cannot be killed.
  Result<bool> end_if_overdue() {
    const Json request = TRY(parse_json(ask_.request).in(ask_.id));
    const Nanos deadline = from_seconds(request.value("deadline_s", 600.0));
    if (age() < deadline + std::chrono::minutes(2)) return false;
    const auto started = os::read_file(folder_.started());
    const auto pid = started ? to_number<pid_t>(trim(*started)) : std::nullopt;
    if (pid && *pid > 1) ::kill(*pid, SIGKILL);
    return false;
  }

  Result<bool> lose(const std::string& because, const std::map<std::string, double>& spent) {
    say_(fmt::format("{}: the question {} is lost: {}", ask_.family, ask_.id, because));
    return write({{"outcome", "lost"}, {"because", because}, {"spent", spent}}, {});
  }

  Result<bool> write(Json payload, std::vector<ledger::Draft> more) {
    std::vector<ledger::Draft> drafts{{"ask.settled", "cycle", ask_.id, std::move(payload)}};
    std::ranges::move(more, std::back_inserter(drafts));
    os::fault_point("ask.collect");
    TRY(context_.ledger->append(drafts, fence_));
    return true;
  }

  Result<bool> take(const std::string& text) {
    const auto json = parse_json(text);
    const auto read = json ? agent::decode_reply(*json) : Result<agent::Reply>(json.error());
    if (!read) return lose("its reply cannot be read: " + read.error().text, ask_.reserved);
    const agent::Reply& reply = *read;
    std::map<std::string, double> spent = ask_.reserved;
    if (reply.tokens_known) {
      spent["tokens"] = static_cast<double>(reply.tokens.total());
      if (reply.cost) spent["usd"] = reply.cost->count();
    }
    Json payload{{"outcome", reply.answer ? "answered" : name(reply.failure)},
                 {"because", reply.because},
                 {"spent", spent},
                 {"tokens_known", reply.tokens_known},
                 {"reported_usd", reply.reported_usd ? Json(*reply.reported_usd) : Json()},
                 {"attempts", reply.attempts},
                 {"took_s", to_seconds(reply.took)}};
    const std::string cost = fmt::format("{:.0f} tokens, ${:.4f}", spent["tokens"], spent["usd"]);
    if (!reply.answer) {
      say_(fmt::format("{}: no answer from {}: {}: {} ({})", ask_.family, runtime(),
                       name(reply.failure), clip(reply.because, 200), cost));
      return write(std::move(payload), {});
    }
    return take_ideas(*reply.answer, std::move(payload), cost);
  }

  Result<bool> take_ideas(const Json& answer, Json payload, const std::string& cost) {
    const auto role = brief::role_named(ask_.role);
    const auto fits = role ? brief::check_answer(*role, answer) : bad_input("unknown role");
    if (fits && role == brief::Role::kAttack) return take_vote(answer, std::move(payload), cost);
    if (!fits || role != brief::Role::kPropose) {
      payload["outcome"] = "invalid answer";
      payload["because"] = fits ? "no step uses answers of this role" : fits.error().text;
      return write(std::move(payload), {});
    }
    const ledger::Family family = TRY(context_.ledger->family(ask_.family));
    TakenAnswer taken = TRY(take_answer(context_, family, answer, {"agent", runtime()}));
    payload["proposed"] = Json::array();
    for (const model::Hypothesis& h : taken.outcome.fresh) payload["proposed"].push_back(h.id);
    payload["refused"] = Json::array();
    for (const RefusedIdea& idea : taken.refused) {
      payload["refused"].push_back({{"title", idea.title}, {"because", idea.because}});
      say_(fmt::format("{}: refused '{}' of {}: {}", ask_.family, clip(idea.title, 80), runtime(),
                       clip(idea.because, 200)));
    }
    payload["known"] = taken.outcome.known;
    const std::size_t fresh = taken.outcome.fresh.size();
    TRY(write(std::move(payload), std::move(taken.outcome.drafts)));
    say_(fmt::format("{}: {} answered: {} new hypothes{} ({})", ask_.family, runtime(), fresh,
                     fresh == 1 ? "is" : "es", cost));
    if (const std::string known = describe_known(taken.outcome.known); !known.empty()) {
      say_(fmt::format("{}: {}", ask_.family, known));
    }
    return true;
  }

  Result<bool> take_vote(const Json& answer, Json payload, const std::string& cost) {
    const auto attack = attack_in(answer);
    payload["outcome"] = attack ? outcome_of(*attack) : "invalid answer";
    if (!attack) payload["because"] = attack.error().text;
    if (attack) payload["attack"] = encode(*attack);
    const std::string says =
        attack ? describe(*attack) : fmt::format("gave no vote: {}", attack.error().text);
    TRY(write(std::move(payload), {}));
    say_(fmt::format("{}: {} on {} {} ({})", ask_.family, runtime(), ask_.about, says, cost));
    return true;
  }

  std::string runtime() const {
    const auto request = parse_json(ask_.request);
    return request ? show(decode_runtime(request->value("runtime", Json::object()))) : ask_.id;
  }

  Context& context_;
  const ledger::Ask& ask_;
  AskFolder folder_;
  std::int64_t fence_;
  const Say& say_;
};

volatile std::sig_atomic_t ask_must_end = 0;
void end_ask(int) { ask_must_end = 1; }

}  // namespace

Result<std::vector<agent::Runtime>> models_of(const Config& config) {
  std::vector<agent::Runtime> models;
  if (!config.agent_local.empty()) {
    agent::Runtime local;
    local.kind = "openai";
    local.url = config.agent_local;
    local.model = config.agent_local_model;
    local.key_env = config.agent_local_key_env;
    local.price = agent::Price{};
    models.push_back(std::move(local));
  }
  if (config.agent_frontier.empty()) return models;
  agent::Runtime frontier;
  frontier.kind = config.agent_frontier;
  frontier.model = config.agent_frontier_model;
  frontier.program = config.agent_frontier_program;
  frontier.url = config.agent_frontier_url;
  frontier.key_env = config.agent_key_env;
  frontier.own_configuration = config.agent_own_configuration;
  if (config.agent_input_usd && config.agent_output_usd) {
    frontier.price =
        agent::Price{*config.agent_input_usd, *config.agent_input_usd, *config.agent_output_usd};
  }
  if (std::ranges::find(agent::kinds(), frontier.kind, &agent::Kind::name) ==
      agent::kinds().end()) {
    return bad_input(
        fmt::format("agent.frontier must be claude, codex or openai, not '{}'", frontier.kind));
  }
  if (!frontier.price && !agent::price_of(frontier.model)) {
    return bad_input(fmt::format(
        "agent: the price of the model '{}' is not known; set agent.input_usd and agent.output_usd "
        "(for a million tokens)",
        frontier.model));
  }
  models.push_back(std::move(frontier));
  return models;
}

Result<int> collect_answers(Context& context, std::int64_t fence, const Say& say) {
  int settled = 0;
  for (const ledger::Ask& ask : TRY(context.ledger->asks("", "reserved"))) {
    settled += TRY(Collecting(context, ask, fence, say).settle()) ? 1 : 0;
  }
  return settled;
}

Result<> run_ask(const std::string& path) {
  const AskFolder folder{os::absolute(path)};
  const auto claim = os::FileLock::try_take(folder.claim());
  if (!claim || os::exists(folder.reply()) || os::exists(folder.started())) return Ok{};
  const std::string text = TRY(os::read_file(folder.request()));
  const Json request = TRY(parse_json(text).in(folder.request()));
  agent::Question question;
  question.id = request.value("id", "");
  const auto role = brief::role_named(request.value("role", ""));
  if (!role) return bad_input(folder.request() + ": /role: unknown");
  question.role = *role;
  question.prompt = TRY(os::read_file(folder.brief()));
  if (sha256_hex(question.prompt) != request.value("prompt", "")) {
    return bad_input(folder.path + "/brief.txt is not what was reserved for");
  }
  question.folder = folder.path;
  question.checkout = request.value("checkout", "");
  question.deadline = from_seconds(request.value("deadline_s", 600.0));
  question.most_tokens = request.value("tokens", question.most_tokens);
  question.most_usd = Usd{request.value("usd", 0.0)};
  std::signal(SIGTERM, end_ask);
  std::signal(SIGINT, end_ask);
  // From here on it may cost: who dies now is not started again.
  if (!create_once(folder.started(), fmt::format("{}\n", ::getpid()))) return Ok{};
  os::fault_point("ask.started");
  const agent::Reply reply = agent::ask(decode_runtime(request.value("runtime", Json::object())),
                                        question, [] { return ask_must_end != 0; });
  os::fault_point("ask.answered");
  return os::write_file(folder.reply(), pretty_json(encode(reply)));
}

}  // namespace amdahl::app
