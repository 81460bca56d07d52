// Who is asked what, and when: the question is reserved before its worker starts.
#include <algorithm>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "agent/route.h"
#include "app/ask_folder.h"
#include "app/asking.h"
#include "app/attacks.h"
#include "app/evidence.h"
#include "app/model_dream.h"
#include "app/work.h"
#include "base/hash.h"
#include "ledger/event.h"
#include "os/fault.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr double kChance = 0.15;  // That an answer brings a win, until the ledger tells.

// What one question may cost of this model.
double most_usd(const Config& config, const agent::Runtime& runtime) {
  const auto price = runtime.price ? runtime.price : agent::price_of(runtime.model);
  const bool is_free = price && price->input <= 0 && price->output <= 0;
  return is_free ? 0 : config.agent_question_usd;
}

// What an answer may bring: the recoverable hours of the family over the horizon, times a chance.
std::optional<double> worth(const Config& config, const ledger::Family& family) {
  if (family.volume_accelerator_h_per_day <= 0) return std::nullopt;
  double share = 0;
  for (const model::Cause& cause : family.profile->causes) share = std::max(share, cause.share);
  return family.volume_accelerator_h_per_day * config.horizon_days * share *
         config.price_accelerator_hour * kChance;
}

// One question, before it is reserved.
struct Question {
  brief::Role role = brief::Role::kPropose;
  std::string about;       // The profile or the experiment.
  int tier = 0;            // Of a proposal: the model; of an attack: which one.
  std::string angle{};     // Of an attack.
  std::string checkout{};  // What the model may read besides its brief.
};

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
    return reserve(family, models[static_cast<std::size_t>(*tier)],
                   {brief::Role::kPropose, family.profile->id, *tier, "", family.spec.repo});
  }

  // The next attack on a claim that has none of its kind yet. The model sees the packet and the
  // diff, and nothing else. Whether a question was reserved.
  Result<bool> attack(const ledger::Family& family, const std::string& experiment,
                      const agent::Runtime& model) {
    const int past = static_cast<int>(TRY(attacks_on(context_, family.name, experiment)).size());
    const std::string_view at = angle(past);
    if (past >= context_.config.agent_attacks || at.empty()) return false;
    const std::optional<double> value = worth(context_.config, family);
    if (value && *value < most_usd(context_.config, model)) return false;
    return reserve(family, model, {brief::Role::kAttack, experiment, past, std::string(at), ""});
  }

  // The cheapest model reads the documents that fit the family, once a profile. Whether a question
  // was reserved.
  Result<bool> dream(const ledger::Family& family, const agent::Runtime& model) {
    const Config& config = context_.config;
    if (config.dream_every <= 0 || config.docs_dir.empty()) return false;
    if (limits_.without_texts.contains(family.name)) return false;
    for (const ledger::Ask& ask : TRY(context_.ledger->asks(family.name, ""))) {
      if (ask.role == "dream" && ask.about == family.profile->id) return false;
    }
    const std::optional<double> value = worth(config, family);
    if (value && *value < most_usd(config, model)) return false;
    const auto texts = texts_for(context_, family);
    if (texts && !texts->empty()) {
      return reserve(family, model, {brief::Role::kDream, family.profile->id, 0, "", ""});
    }
    limits_.without_texts.insert(family.name);
    if (!texts) say_(fmt::format("{}: cannot dream: {}", family.name, texts.error().text));
    return false;
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

  Result<Brief> brief_for(const ledger::Family& family, const Question& wanted) {
    Brief brief = TRY(brief_on(context_, family.name, wanted.role,
                               wanted.role == brief::Role::kAttack ? wanted.about : ""));
    if (wanted.angle.empty()) return brief;
    brief.packet["task"] = fmt::format("{} Look at this alone: {}",
                                       brief.packet.at("task").get<std::string>(), wanted.angle);
    brief.prompt = brief::prompt(brief.packet);
    return brief;
  }

  Result<bool> reserve(const ledger::Family& family, const agent::Runtime& model,
                       const Question& wanted) {
    const Config& config = context_.config;
    const double usd = most_usd(config, model);
    if (usd > limits_.usd_left) {
      return refuse(
          fmt::format("{}: not asking {}: agent.cycle_usd leaves ${:.2f} and a question "
                      "may cost ${:.2f}",
                      family.name, show(model), limits_.usd_left, usd));
    }
    const Brief brief = TRY(brief_for(family, wanted));
    if (brief.tokens_estimated >= config.agent_question_tokens) {
      return refuse(
          fmt::format("{}: not asking: the brief has {} tokens and "
                      "agent.question_tokens allows {}",
                      family.name, brief.tokens_estimated, config.agent_question_tokens));
    }
    const std::string digest = sha256_hex(brief.prompt);
    const std::string id = "q-" + sha256_hex(fmt::format("{} {} {} {}", family.name, wanted.about,
                                                         wanted.tier, digest))
                                      .substr(0, 10);
    Json request{{"id", id},
                 {"role", name(wanted.role)},
                 {"runtime", encode_runtime(model)},
                 {"prompt", digest},
                 {"checkout", wanted.checkout},
                 {"deadline_s", config.agent_deadline_s},
                 {"tokens", config.agent_question_tokens},
                 {"usd", usd}};
    // The brief lies in the folder before anything is reserved: a worker that is started after a
    // crash asks the same.
    const AskFolder folder = ask_folder(context_, id);
    TRY(os::make_dirs(folder.path));
    TRY(os::write_file(folder.brief(), brief.prompt));
    const auto reserved = context_.ledger->append(
        std::vector<ledger::Draft>{
            {"ask.reserved",
             "cycle",
             id,
             {{"family", family.name},
              {"about", wanted.about},
              {"role", name(wanted.role)},
              {"tier", wanted.tier},
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
    say_(fmt::format("{}: asking {} to {} (at most {} tokens, ${:.2f})", family.name, show(model),
                     name(wanted.role), config.agent_question_tokens, usd));
    os::fault_point("ask.reserved");
    Nanos offered{};
    if (WorkFolder(context_).leave({Piece::Kind::kAsk, id}, fence_, offered)) return true;
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

}  // namespace

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
    const bool proposes = TRY(asker.consider(family, has_ideas[name], models));
    const bool dreams = !has_ideas[name] && TRY(asker.dream(family, models.front()));
    asked += (proposes ? 1 : 0) + (dreams ? 1 : 0);
  }
  // Whoever is asked last is the most able.
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    const auto family = snapshot.families.find(x.family);
    if (x.stage != model::Stage::kRefute || family == snapshot.families.end()) continue;
    if (!family->second.profile || x.baseline_moved || !x.spec_changed.empty()) continue;
    while (TRY(asker.attack(family->second, x.id, models.back()))) ++asked;
  }
  return asked;
}

}  // namespace amdahl::app
