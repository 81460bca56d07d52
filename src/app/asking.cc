#include "app/asking.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "agent/route.h"
#include "app/answer.h"
#include "app/evidence.h"
#include "base/hash.h"
#include "base/text.h"
#include "brief/answer.h"
#include "launch/environment.h"
#include "launch/local/spawn.h"
#include "ledger/event.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "os/lock.h"

namespace amdahl::app {
namespace {

constexpr int kMostAsked = 3;
constexpr Nanos kStartsWithin = std::chrono::seconds(10);
constexpr double kChance = 0.15;  // That an answer brings a win, until the ledger tells.

struct AskFolder {
  std::string path;
  std::string request() const { return path + "/request.json"; }
  std::string claim() const { return path + "/claim"; }
  std::string started() const { return path + "/started"; }
  std::string reply() const { return path + "/reply.json"; }
  std::string handed() const { return path + "/handed"; }
};

AskFolder folder_of(const Context& context, const std::string& id) {
  return {context.path("asks/" + id)};
}

Json encode_runtime(const agent::Runtime& runtime) {
  Json json{{"kind", runtime.kind},       {"model", runtime.model},
            {"program", runtime.program}, {"url", runtime.url},
            {"key_env", runtime.key_env}, {"own_configuration", runtime.own_configuration}};
  if (runtime.price) {
    json["price"] = {runtime.price->input, runtime.price->cached, runtime.price->output};
  }
  return json;
}

agent::Runtime decode_runtime(const Json& json) {
  agent::Runtime runtime;
  runtime.kind = json.value("kind", "");
  runtime.model = json.value("model", "");
  runtime.program = json.value("program", "");
  runtime.url = json.value("url", "");
  runtime.key_env = json.value("key_env", "");
  runtime.own_configuration = json.value("own_configuration", false);
  const Json price = json.value("price", Json());
  if (price.is_array() && price.size() == 3) {
    runtime.price =
        agent::Price{price[0].get<double>(), price[1].get<double>(), price[2].get<double>()};
  }
  return runtime;
}

std::string show(const agent::Runtime& runtime) {
  return runtime.model.empty() ? runtime.kind : runtime.kind + ":" + runtime.model;
}

// What one question may cost of this model.
double most_usd(const Config& config, const agent::Runtime& runtime) {
  const auto price = runtime.price ? runtime.price : agent::price_of(runtime.model);
  const bool is_free = price && price->input <= 0 && price->output <= 0;
  return is_free ? 0 : config.agent_question_usd;
}

// Starts the worker of a question that is reserved; starting it twice is harmless.
Result<> hand_over(const AskFolder& folder, const Json& request) {
  TRY(os::make_dirs(folder.path));
  if (!os::exists(folder.request())) {
    TRY(os::write_file(folder.request(), pretty_json(request)));
  }
  const auto before = os::read_file(folder.handed());
  TRY(os::write_file(folder.handed(), (before ? *before : "") + "x"));
  os::fault_point("ask.before_spawn");
  const std::string worker = os::env_or("AMDAHL_WORKER", os::self_path());
  return launch::local::spawn_detached({worker, "exec", "--ask", folder.path},
                                       launch::own_environment(), folder.path + "/log");
}

// One question in flight.
class Collecting {
 public:
  Collecting(Context& context, const ledger::Ask& ask, std::int64_t fence, const Say& say)
      : context_{context},
        ask_{ask},
        folder_{folder_of(context, ask.id)},
        fence_{fence},
        say_{say} {}

  // Whether it was settled.
  Result<bool> settle() {
    const auto reply = os::read_file(folder_.reply());
    if (reply) return take(*reply);
    if (os::FileLock::is_held(folder_.claim())) return end_if_overdue();
    if (os::exists(folder_.reply())) return false;  // Just now: the next look takes it.
    if (os::exists(folder_.started())) {
      return lose("its worker died before it had an answer", ask_.reserved);
    }
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
    if (!fits || role != brief::Role::kPropose) {
      payload["outcome"] = "invalid answer";
      payload["because"] = fits ? "nobody takes answers of this role" : fits.error().text;
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

// What an answer may bring: the recoverable hours of the family over the horizon, times a chance.
std::optional<double> worth(const Config& config, const ledger::Family& family) {
  if (family.volume_accelerator_h_per_day <= 0) return std::nullopt;
  double share = 0;
  for (const model::Cause& cause : family.profile->causes) share = std::max(share, cause.share);
  return family.volume_accelerator_h_per_day * config.horizon_days * share *
         config.price_accelerator_hour * kChance;
}

class Asker {
 public:
  Asker(Context& context, std::int64_t fence, AskLimits& limits, const Say& say)
      : context_{context}, fence_{fence}, limits_{limits}, say_{say} {}

  // Whether a question was reserved.
  Result<bool> consider(const ledger::Family& family, bool has_ideas,
                        const std::vector<agent::Runtime>& models) {
    agent::Standing standing{.prices = {}, .has_ideas = has_ideas};
    for (const agent::Runtime& model : models) {
      standing.prices.push_back(most_usd(context_.config, model));
    }
    for (const ledger::Ask& ask : TRY(context_.ledger->asks(family.name, ""))) {
      if (ask.role != "propose" || ask.about != family.profile->id) continue;
      standing.past.push_back({ask.tier, ask.state == "settled", TRY(won(family))});
    }
    standing.worth_usd = worth(context_.config, family);
    const std::optional<int> tier = agent::next_tier(standing);
    if (!tier) return false;
    return reserve(family, models[static_cast<std::size_t>(*tier)], *tier);
  }

 private:
  // Whether a model's idea of this profile is in the stack: then another profile comes first.
  Result<bool> won(const ledger::Family& family) {
    for (const std::string& id : family.stack) {
      const model::Hypothesis h = TRY(context_.ledger->hypothesis(id)).hypothesis;
      if (h.origin.kind == "agent" && h.profile == family.profile->id) return true;
    }
    return false;
  }

  Result<bool> reserve(const ledger::Family& family, const agent::Runtime& model, int tier) {
    const Config& config = context_.config;
    const double usd = most_usd(config, model);
    if (usd > limits_.usd_left) {
      return refuse(
          fmt::format("{}: not asking {}: agent.cycle_usd leaves ${:.2f} and a question "
                      "may cost ${:.2f}",
                      family.name, show(model), limits_.usd_left, usd));
    }
    const Brief brief = TRY(brief_on(context_, family.name, brief::Role::kPropose));
    if (brief.tokens_estimated >= config.agent_question_tokens) {
      return refuse(
          fmt::format("{}: not asking: the brief has {} tokens and "
                      "agent.question_tokens allows {}",
                      family.name, brief.tokens_estimated, config.agent_question_tokens));
    }
    const std::string digest = sha256_hex(brief.prompt);
    const std::string id =
        "q-" + sha256_hex(fmt::format("{} {} {} {}", family.name, family.profile->id, tier, digest))
                   .substr(0, 10);
    Json request{{"id", id},
                 {"role", "propose"},
                 {"runtime", encode_runtime(model)},
                 {"prompt", digest},
                 {"checkout", family.spec.repo},
                 {"deadline_s", config.agent_deadline_s},
                 {"tokens", config.agent_question_tokens},
                 {"usd", usd}};
    // The brief lies in the folder before anything is reserved: a worker that is started after a
    // crash asks the same.
    const AskFolder folder = folder_of(context_, id);
    TRY(os::make_dirs(folder.path));
    TRY(os::write_file(folder.path + "/brief.txt", brief.prompt));
    const auto reserved = context_.ledger->append(
        std::vector<ledger::Draft>{
            {"ask.reserved",
             "cycle",
             id,
             {{"family", family.name},
              {"about", family.profile->id},
              {"role", "propose"},
              {"tier", tier},
              {"evidence", brief.packet.at("evidence_sha256")},
              {"reserved", {{"tokens", config.agent_question_tokens}, {"usd", usd}}},
              {"request", request}}}},
        fence_);
    if (!reserved && reserved.error().kind == Error::Kind::kBudget) {
      return refuse(
          fmt::format("{}: not asking {}: {}", family.name, show(model), reserved.error().text));
    }
    if (!reserved) return reserved.error();
    limits_.usd_left -= usd;
    say_(fmt::format("{}: asking {} (at most {} tokens, ${:.2f})", family.name, show(model),
                     config.agent_question_tokens, usd));
    os::fault_point("ask.reserved");
    if (const auto handed = hand_over(folder, request); !handed) {
      say_(fmt::format("{}: {}", family.name, handed.error().text));
    }
    return true;
  }

  Result<bool> refuse(const std::string& why) {
    if (!limits_.out_of_budget) say_(why);
    limits_.out_of_budget = true;
    return false;
  }

  Context& context_;
  std::int64_t fence_;
  AskLimits& limits_;
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

Result<int> ask_models(Context& context, const Snapshot& snapshot, std::int64_t fence,
                       AskLimits& limits, const Say& say) {
  const std::vector<agent::Runtime> models = TRY(models_of(context.config));
  if (models.empty() || limits.out_of_budget) return 0;
  std::map<std::string, bool> has_ideas;
  for (const loop::Queued& idea : snapshot.experiments.state().queued) {
    has_ideas[idea.family] = true;
  }
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    if (!x.parked) has_ideas[x.family] = true;
  }
  for (const model::Pair& run : snapshot.in_flight) has_ideas[run.family] = true;
  int asked = 0;
  Asker asker(context, fence, limits, say);
  for (const auto& [name, family] : snapshot.families) {
    if (!family.profile || snapshot.skipped.contains(name)) continue;
    asked += TRY(asker.consider(family, has_ideas[name], models)) ? 1 : 0;
  }
  return asked;
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
  question.prompt = TRY(os::read_file(folder.path + "/brief.txt"));
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
  TRY(os::write_file(folder.started(), fmt::format("{}\n", ::getpid())));
  os::fault_point("ask.started");
  const agent::Reply reply = agent::ask(decode_runtime(request.value("runtime", Json::object())),
                                        question, [] { return ask_must_end != 0; });
  os::fault_point("ask.answered");
  return os::write_file(folder.reply(), pretty_json(encode(reply)));
}

}  // namespace amdahl::app
