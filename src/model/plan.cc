#include "model/plan.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/redact.h"
#include "base/text.h"
#include "model/codec.h"
#include "model/flags.h"

namespace amdahl::model {
namespace {

// A job whose CPU slots are its accelerators keeps the two numbers equal.
int cpus_for(const Spec& spec, int accelerators) {
  const bool follow = spec.cpus == 0 || spec.cpus == spec.accelerators;
  return follow ? accelerators : spec.cpus;
}

Result<> check_change(const Spec& spec, const Change& change) {
  if (change.accelerators && *change.accelerators < 1) {
    return bad_input(fmt::format("the change asks for {} accelerators; at least 1 is required",
                                 *change.accelerators));
  }
  if (!change.patch.empty() && spec.repo.empty()) {
    return bad_input(fmt::format(
        "the change is a patch, but {} has no repo: add repo = \"...\" to its spec", spec.family));
  }
  if (change.needs_build && spec.build.empty()) {
    return bad_input(fmt::format(
        "the change needs a build, but {} has no build command: add build = [...] to its spec",
        spec.family));
  }
  for (const auto& [place, value] : change.config) {
    const std::size_t hash = place.find('#');
    if (hash == place.npos || hash == 0 || hash + 1 == place.size()) {
      return bad_input(
          fmt::format("the change sets \"{}\": write it as \"file.json#key.path\"", place));
    }
  }
  for (const auto& [name, value] : change.env) {
    if (name.empty() || name.find('=') != name.npos || name.find('\0') != name.npos) {
      return bad_input(
          fmt::format("the change sets a variable with the invalid name \"{}\"", name));
    }
  }
  // A program gets the text before it: two changes would do the same.
  for (const auto* values : {&change.env, &change.args}) {
    for (const auto& [name, value] : *values) {
      if (name.find('\0') == name.npos && (!value || value->find('\0') == value->npos)) continue;
      return bad_input(fmt::format("{}: a zero byte ends the text; leave it out", name.c_str()));
    }
  }
  return Ok{};
}

// An older ledger may contain the redaction mark in place of a secret.
Result<> check_whole(const Plan& plan) {
  const auto marked = [](std::string_view text) { return text.find(kRedacted) != text.npos; };
  const auto any_marked = [&](const std::map<std::string, std::string>& values) {
    return std::ranges::any_of(values, [&](const auto& item) { return marked(item.second); });
  };
  const bool whole = !std::ranges::any_of(plan.argv, marked) && !any_marked(plan.env) &&
                     !any_marked(plan.config) && !any_marked(plan.inject) && !marked(plan.patch);
  if (whole) return Ok{};
  return bad_input(
      fmt::format("a secret in this command, environment or patch was replaced by {}, so it cannot "
                  "run: put the "
                  "secret into the environment and write {{env:NAME}} instead",
                  kRedacted));
}

// Two spellings of one flag must have the same value: their order is not recorded.
Result<> set_flags(std::vector<std::string>& argv, const Spec& spec, const Change& change) {
  std::map<std::string, std::optional<std::string>> seen;
  for (const auto& [given, given_value] : change.args) {
    const FlagAndValue apart = split_flag(spec, given, given_value);
    if (apart.flag.empty()) return bad_input("the change sets a flag without a name");
    const Flag flag = flag_named(spec, apart.flag);
    const auto [first, is_new] = seen.emplace(flag.name(), apart.value);
    if (!is_new && first->second != apart.value) {
      return bad_input(fmt::format("the change sets {} twice: to \"{}\" and, as {}, to \"{}\"",
                                   flag.name(), first->second.value_or("(unset)"), apart.flag,
                                   apart.value.value_or("(unset)")));
    }
    TRY(set_flag(argv, flag, apart.value));
  }
  return Ok{};
}

}  // namespace

Result<Plan> make_plan(const Spec& spec, const Change& change) {
  TRY(check_change(spec, change));
  Plan plan;
  plan.argv = spec.command;
  plan.workdir = spec.workdir;
  plan.env = spec.env;
  TRY(set_flags(plan.argv, spec, change));
  for (const auto& [name, value] : change.env) {
    if (value) {
      plan.env[name] = *value;
    } else {
      plan.env.erase(name);
      plan.unset.push_back(name);
    }
  }
  plan.accelerators = change.accelerators.value_or(spec.accelerators);
  plan.cpus = cpus_for(spec, plan.accelerators);
  plan.argv.insert(plan.argv.begin(), change.wrap.begin(), change.wrap.end());
  plan.config = change.config;
  plan.inject = change.inject;
  plan.patch = change.patch;
  plan.needs_build = change.needs_build;
  TRY(check_whole(plan));
  return plan;
}

std::optional<std::string> current_value(const Spec& spec, const Change& baseline,
                                         const Knob& knob) {
  const auto default_of = [&]() -> std::optional<std::string> {
    if (knob.value.empty()) return std::nullopt;
    return knob.value;
  };
  if (!knob.arg.empty()) {
    const Flag flag = flag_named(spec, knob.arg);
    for (const auto& [given, given_value] : baseline.args) {
      const FlagAndValue apart = split_flag(spec, given, given_value);
      if (std::ranges::find(flag.spellings, apart.flag) != flag.spellings.end()) return apart.value;
    }
    const std::optional<std::string> found = value_in(spec.command, flag);
    return found ? found : default_of();
  }
  if (!knob.env.empty()) {
    if (const auto set = baseline.env.find(knob.env); set != baseline.env.end()) return set->second;
    if (const auto set = spec.env.find(knob.env); set != spec.env.end()) return set->second;
    return default_of();
  }
  if (const auto set = baseline.config.find(knob.config); set != baseline.config.end()) {
    return set->second;
  }
  return default_of();
}

std::string digest(const Plan& plan) { return sha256_hex(dump_json(encode(plan))).substr(0, 16); }

}  // namespace amdahl::model
