#include "app/answer.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/agent_door.h"
#include "base/shown.h"
#include "base/text.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kLongestTitle = 100;
constexpr std::size_t kLongestMechanism = 600;

using Settings = std::map<std::string, std::optional<std::string>>;

Result<Settings> settings_in(const Json& list, const char* what) {
  Settings settings;
  for (const Json& row : list) {
    const std::string name = row.at("name").get<std::string>();
    std::optional<std::string> value;
    if (!row.at("value").is_null()) value = row.at("value").get<std::string>();
    if (name.empty()) return bad_input(fmt::format("{}: a setting without a name", what));
    if (!settings.emplace(name, value).second) {
      return bad_input(fmt::format("{}: {} is set twice", what, name));
    }
  }
  return settings;
}

Result<std::map<std::string, std::string>> plain_settings(const Json& list, const char* what) {
  std::map<std::string, std::string> plain;
  for (const auto& [name, value] : TRY(settings_in(list, what))) {
    if (!value) return bad_input(fmt::format("{}: {} needs a value", what, name));
    plain[name] = *value;
  }
  return plain;
}

Result<model::Change> change_in(const ledger::Family& family, const Json& json) {
  model::Change change;
  change.env = TRY(settings_in(json.at("env"), "env"));
  change.args = TRY(settings_in(json.at("args"), "args"));
  change.config = TRY(plain_settings(json.at("config"), "config"));
  change.inject = TRY(plain_settings(json.at("inject"), "inject"));
  if (!json.at("accelerators").is_null()) change.accelerators = json.at("accelerators").get<int>();
  change.patch = json.at("patch").get<std::string>();
  TRY(check_only_tunes(family.spec, change));
  change.needs_build = !change.patch.empty() && !family.spec.build.empty();
  return change;
}

std::string title_in(const Json& json) {
  return clip(on_one_line(json.at("title").get<std::string>()), kLongestTitle);
}

// The nearest point to the claim that the door still lets through is not ours to choose: an idea
// that claims too much is refused.
Result<model::Hypothesis> idea_in(Context& context, const ledger::Family& family, const Json& json,
                                  const model::Origin& origin) {
  Idea idea;
  idea.change = TRY(change_in(family, json.at("change")));
  idea.title = title_in(json);
  idea.gain = json.at("expected_saving").get<double>();
  idea.cause = json.at("cause").get<std::string>();
  idea.from = origin.kind;
  idea.actor = origin.ref;
  idea.mechanism = clip(json.at("mechanism").get<std::string>(), kLongestMechanism);
  if (idea.gain < context.config.min_gain) {
    return bad_input(fmt::format("{} is below the smallest gain worth a test ({})",
                                 show_percent(idea.gain), show_percent(context.config.min_gain)));
  }
  return draft_idea(context, family.name, idea);
}

}  // namespace

Result<TakenAnswer> take_answer(Context& context, const ledger::Family& family, const Json& answer,
                                const model::Origin& origin) {
  TakenAnswer taken;
  std::vector<model::Hypothesis> ideas;
  for (const Json& json : answer.at("hypotheses")) {
    auto idea = idea_in(context, family, json, origin);
    if (idea) {
      ideas.push_back(*std::move(idea));
    } else if (idea.error().kind == Error::Kind::kBadInput) {
      taken.refused.push_back({title_in(json), idea.error().text});
    } else {
      return idea.error();
    }
  }
  taken.outcome = TRY(
      admit(context, std::move(ideas), origin.ref, static_cast<std::size_t>(context.config.queue)));
  return taken;
}

}  // namespace amdahl::app
