#include "app/answer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include <fmt/core.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "app/change_key.h"
#include "base/text.h"
#include "dream/settings.h"
#include "model/patch_edits.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kLongestTitle = 100;
constexpr std::size_t kLongestMechanism = 600;
constexpr std::size_t kLongestPatch = 64 << 10;

// Code that says whether the job did its work is not the job's to change.
constexpr auto kFrozen = std::to_array<const char*>(
    {".git/*", "*/.git/*", ".git*", "*/.git*", "test/*", "tests/*", "*/test/*", "*/tests/*",
     "test_*", "*/test_*", "*_test.*", "*conftest.py", "*/ci/*", ".ci/*"});

bool matches(const std::vector<std::string>& patterns, const std::string& path) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || path.starts_with(pattern + "/");
  });
}

Result<> check_lines(const model::Spec& spec, const model::FileEdit& file) {
  std::vector<std::string> frozen{"AMDAHL_"};
  if (spec.metric != model::Spec{}.metric) frozen.push_back(spec.metric);
  for (const model::LineEdit& edit : file.edits) {
    for (const auto& lines : {edit.removed, edit.added}) {
      for (const std::string& line : lines) {
        for (const std::string& word : frozen) {
          if (!contains(line, word)) continue;
          return bad_input(
              fmt::format("the patch changes a line of {} with '{}': what a job "
                          "reports is not its to change",
                          file.path, word));
        }
      }
    }
  }
  return Ok{};
}

Result<> check_file(const model::Spec& spec, const model::FileEdit& file) {
  for (const std::string& path : {file.path, file.from}) {
    if (path.empty()) continue;
    if (path.starts_with('/') || path == ".." || path.starts_with("../") ||
        contains(path, "/../")) {
      return bad_input(fmt::format("the patch names {}, which is outside of the repo", path));
    }
    if (matches({kFrozen.begin(), kFrozen.end()}, path)) {
      return bad_input(fmt::format("the patch touches {}: tests and checks are frozen", path));
    }
  }
  if (!file.binary.empty()) return bad_input(fmt::format("{}: bytes that are no text", file.path));
  if (!file.new_mode.empty() && file.new_mode != "100644" && file.new_mode != "100755") {
    return bad_input(fmt::format("{}: mode {} is no plain file's", file.path, file.new_mode));
  }
  return check_lines(spec, file);
}

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

// Neither file nor code may come in by a variable; only what tunes may.
Result<> check_variables(const model::Spec& spec, const Settings& env) {
  for (const auto& [name, value] : env) {
    const bool is_knob =
        std::ranges::any_of(spec.knobs, [&](const auto& knob) { return knob.second.env == name; });
    if (!is_knob && !dream::only_tunes(name)) {
      return bad_input(
          fmt::format("{} is neither a knob of the spec nor a variable that only tunes", name));
    }
  }
  return Ok{};
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
  TRY(check_variables(family.spec, change.env));
  change.args = TRY(settings_in(json.at("args"), "args"));
  change.config = TRY(plain_settings(json.at("config"), "config"));
  change.inject = TRY(plain_settings(json.at("inject"), "inject"));
  if (!json.at("accelerators").is_null()) change.accelerators = json.at("accelerators").get<int>();
  change.patch = json.at("patch").get<std::string>();
  if (change.patch.empty()) return change;
  change.needs_build = !family.spec.build.empty();
  if (family.spec.repo.empty()) return bad_input("the spec has no repo for a patch to apply to");
  TRY(check_patch_paths(family.spec, change.patch));
  if (!edits_of(family.spec.repo, family.baseline.patch, change.patch)) {
    return bad_input("the patch does not apply to the commit that the repo is at");
  }
  return change;
}

bool has_cause(const ledger::Family& family, const Idea& idea) {
  return family.profile && std::ranges::any_of(family.profile->causes, [&](const model::Cause& c) {
           return name(c.bottleneck) == idea.cause;
         });
}

// The nearest point to the claim that the door still lets through is not ours to choose: an idea
// that claims too much is refused.
Result<model::Hypothesis> idea_in(Context& context, const ledger::Family& family, const Json& json,
                                  const model::Origin& origin) {
  Idea idea;
  idea.change = TRY(change_in(family, json.at("change")));
  idea.title = clip(json.at("title").get<std::string>(), kLongestTitle);
  idea.gain = json.at("expected_saving").get<double>();
  idea.cause = json.at("cause").get<std::string>();
  idea.from = origin.kind;
  idea.actor = origin.ref;
  idea.mechanism = clip(json.at("mechanism").get<std::string>(), kLongestMechanism);
  if (idea.gain < context.config.min_gain) {
    return bad_input(fmt::format("{} is less than is worth a test ({})", show_percent(idea.gain),
                                 show_percent(context.config.min_gain)));
  }
  // Work that gets cheaper is no waste that a profile could show, and has no ceiling but the job.
  const bool is_work = idea.cause == name(model::Bottleneck::kCompute) && !has_cause(family, idea);
  if (is_work) idea.cause.clear();
  model::Hypothesis h = TRY(draft_idea(context, family.name, idea));
  if (is_work) h.bottleneck = model::Bottleneck::kCompute;
  return h;
}

}  // namespace

Result<> check_patch_paths(const model::Spec& spec, const std::string& patch) {
  if (patch.size() > kLongestPatch) {
    return bad_input(
        fmt::format("the patch has {} bytes; {} are allowed", patch.size(), kLongestPatch));
  }
  const std::vector<model::FileEdit> files = model::read_patch(patch);
  if (files.empty()) return bad_input("the patch is no unified diff");
  for (const model::FileEdit& file : files) TRY(check_file(spec, file));
  return Ok{};
}

Result<TakenAnswer> take_answer(Context& context, const ledger::Family& family, const Json& answer,
                                const model::Origin& origin) {
  TakenAnswer taken;
  std::vector<model::Hypothesis> ideas;
  for (const Json& json : answer.at("hypotheses")) {
    auto idea = idea_in(context, family, json, origin);
    if (idea) {
      ideas.push_back(*std::move(idea));
    } else if (idea.error().kind == Error::Kind::kBadInput) {
      const std::string title = clip(json.at("title").get<std::string>(), kLongestTitle);
      taken.refused.push_back({title, idea.error().text});
    } else {
      return idea.error();
    }
  }
  taken.outcome = TRY(
      admit(context, std::move(ideas), origin.ref, static_cast<std::size_t>(context.config.queue)));
  return taken;
}

}  // namespace amdahl::app
