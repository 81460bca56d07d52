#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "model/codec.h"
#include "model/effect.h"
#include "model/flags.h"
#include "model/patch_edits.h"
#include "model/plan.h"

namespace amdahl::model {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// A whole number of any length: "+032" is "32", "-0" is "0".
std::optional<std::string> fold_whole(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!is_digits(text)) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  return (negative && text != "0" ? "-" : "") + std::string(text);
}

// Numbers in one spelling; other text is only trimmed.
std::string fold_number(std::string_view text) {
  text = trim(text);
  if (const auto whole = fold_whole(text)) return *whole;
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const bool spelled = digits.find_first_not_of("0123456789.eE+-") == digits.npos;
  const std::optional<double> value = spelled ? to_number<double>(digits) : std::nullopt;
  if (!value || !std::isfinite(*value)) return std::string(text);
  if (*value == std::floor(*value) && std::abs(*value) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(*value));
  }
  return fmt::format("{}", *value);
}

// Runtimes that read their variables without regard to case and to blanks around.
bool ignores_case(std::string_view variable) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE", "OMP_DYNAMIC",
       "OMP_NESTED", "OMP_DISPLAY_ENV", "MKL_DYNAMIC"});
  return variable.starts_with("KMP_") || std::ranges::find(kNames, variable) != kNames.end();
}

// Variables that their runtimes read as a number.
bool counts(std::string_view variable) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"OMP_THREAD_LIMIT", "OMP_MAX_ACTIVE_LEVELS", "GOMP_SPINCOUNT", "MALLOC_ARENA_MAX",
       "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "TF_NUM_INTEROP_THREADS",
       "TF_NUM_INTRAOP_THREADS", "NCCL_NTHREADS", "NCCL_NSOCKS_PERTHREAD", "NCCL_SOCKET_NTHREADS",
       "CUDA_DEVICE_MAX_CONNECTIONS"});
  return variable.ends_with("_NUM_THREADS") || variable.starts_with("KMP_") ||
         std::ranges::find(kNames, variable) != kNames.end();
}

// The spec has bounds for it, or the knob only takes numbers.
bool is_numeric(const Knob& knob) {
  const auto known = known_knobs();
  const auto row = std::ranges::find(known, knob.name, &KnownKnob::name);
  const bool counts =
      row != known.end() && !row->sets.starts_with("switch") && row->name != "precision";
  return knob.min || knob.max || counts;
}

// Whether spellings of one number are one value there. Elsewhere "3.10" may be a version and "007"
// a code: text stays text.
bool is_numeric(const Spec& spec, std::string Knob::*where, std::string_view name) {
  return std::ranges::any_of(spec.knobs, [&](const auto& item) {
    return item.second.*where == name && is_numeric(item.second);
  });
}

std::string fold_variable(const Spec& spec, std::string_view name, const std::string& value) {
  if (ignores_case(name)) return lower(fold_number(value));
  return counts(name) || is_numeric(spec, &Knob::env, name) ? fold_number(value) : value;
}

std::string fold_argument(const Spec& spec, std::string_view flag, const std::string& value) {
  return is_numeric(spec, &Knob::arg, flag) ? fold_number(value) : value;
}

// "./conf/../c.json#a.b" as "c.json#a.b": the file as the working folder sees it.
std::string fold_place(const Spec& spec, std::string_view place) {
  namespace fs = std::filesystem;
  const std::size_t hash = place.find('#');
  if (hash == place.npos) return std::string(place);
  const fs::path base = spec.workdir.empty() ? fs::path("/") : fs::path(spec.workdir);
  const fs::path whole = (base / place.substr(0, hash)).lexically_normal();
  const fs::path inside = whole.lexically_relative(base.lexically_normal());
  const bool outside = inside.empty() || *inside.begin() == "..";
  return (outside ? whole : inside).string() + std::string(place.substr(hash));
}

std::string fold_setting(const Spec& spec, std::string_view place, const std::string& value) {
  const bool numeric = std::ranges::any_of(spec.knobs, [&](const auto& item) {
    const Knob& knob = item.second;
    return !knob.config.empty() && fold_place(spec, knob.config) == place && is_numeric(knob);
  });
  return numeric ? fold_number(value) : value;
}

using Values = std::map<std::string, std::optional<std::string>>;

Values fold_env(const Spec& spec, const Values& env) {
  Values folded;
  for (const auto& [given, value] : env) {
    const std::string name(trim(given));
    folded[name] = value ? std::optional(fold_variable(spec, name, *value)) : std::nullopt;
  }
  return folded;
}

// Flags by their first name.
Values fold_args(const Spec& spec, const Values& args) {
  Values folded;
  for (const auto& [given, given_value] : args) {
    const FlagAndValue apart = split_flag(spec, given, given_value);
    const std::string flag = flag_named(spec, apart.flag).name();
    folded[flag] =
        apart.value ? std::optional(fold_argument(spec, flag, *apart.value)) : std::nullopt;
  }
  return folded;
}

std::map<std::string, std::string> fold_config(const Spec& spec,
                                               const std::map<std::string, std::string>& config) {
  std::map<std::string, std::string> folded;
  for (const auto& [given, value] : config) {
    const std::string place = fold_place(spec, trim(given));
    folded[place] = fold_setting(spec, place, value);
  }
  return folded;
}

// The values of spec and baseline, as a change of nothing.
Change present(const Spec& spec, const Change& baseline) {
  Change all;
  for (const auto& [name, knob] : spec.knobs) {
    if (knob.value.empty()) continue;
    if (!knob.env.empty()) all.env[knob.env] = knob.value;
    if (!knob.config.empty()) all.config[knob.config] = knob.value;
  }
  for (const auto& [name, value] : spec.env) all.env[name] = value;
  all = folded(spec, all);
  const Change on_top = folded(spec, baseline);
  for (const auto& [name, value] : on_top.env) all.env[name] = value;
  for (const auto& [place, value] : on_top.config) all.config[place] = value;
  all.inject = on_top.inject;
  all.args = on_top.args;
  all.accelerators = baseline.accelerators.value_or(spec.accelerators);
  all.wrap = on_top.wrap;
  all.patch = on_top.patch;
  return all;
}

constexpr std::size_t kEffectDigits = 23;

std::string hardware_mark(std::string_view hardware) {
  return ":" + sha256_hex(hardware).substr(0, 8);
}

// Whether setting the flag leaves a job as it is that is started by `argv`.
bool changes_nothing(const std::vector<std::string>& argv, const Spec& spec, const Flag& flag,
                     const std::optional<std::string>& value) {
  const auto same = [&](const std::string& other) {
    return value && fold_argument(spec, flag.name(), other) == *value;
  };
  const std::optional<std::string> had = value_in(argv, flag);
  if (!had && value) {  // Absent: then the job has its default, if the spec names it.
    const auto knob = std::ranges::find_if(
        spec.knobs, [&](const auto& item) { return item.second.arg == flag.name(); });
    return knob != spec.knobs.end() && !knob->second.value.empty() && same(knob->second.value);
  }
  if (had && same(*had)) return true;
  std::vector<std::string> set = argv;
  return set_flag(set, flag, value) && set == argv;
}

void leave_out_args(const Spec& spec, const Change& baseline, const Change& had, Change& change) {
  Change only_args;
  only_args.args = baseline.args;
  const Result<Plan> plan = make_plan(spec, only_args);
  const std::vector<std::string>& argv = plan ? plan->argv : spec.command;
  std::erase_if(change.args, [&](const auto& item) {
    const auto& [flag, value] = item;
    const auto before = had.args.find(flag);
    if (before != had.args.end() && before->second == value) return true;
    return changes_nothing(argv, spec, flag_named(spec, flag), value);
  });
}

}  // namespace

Change by_first_name(const Spec& spec, const Change& change) {
  Change named = change;
  named.env.clear();
  for (const auto& [name, value] : change.env) named.env[std::string(trim(name))] = value;
  named.args.clear();
  for (const auto& [given, given_value] : change.args) {
    const FlagAndValue apart = split_flag(spec, given, given_value);
    named.args[flag_named(spec, apart.flag).name()] = apart.value;
  }
  named.config.clear();
  for (const auto& [place, value] : change.config) named.config[std::string(trim(place))] = value;
  return named;
}

Change folded(const Spec& spec, const Change& change) {
  Change result;
  result.env = fold_env(spec, change.env);
  result.args = fold_args(spec, change.args);
  result.config = fold_config(spec, change.config);
  result.accelerators = change.accelerators;
  result.wrap = change.wrap;
  for (const auto& [fix, value] : change.inject) result.inject[fix] = fold_number(value);
  result.patch = describe_edits(read_patch(change.patch));
  return result;
}

Change canonical(const Spec& spec, const Change& baseline, const Change& change) {
  Change result = folded(spec, change);
  const Change had = present(spec, baseline);
  const auto is_there = [](const auto& all) {
    return [&all](const auto& item) {
      const auto found = all.find(item.first);
      return found != all.end() && found->second == item.second;
    };
  };
  std::erase_if(result.env, is_there(had.env));
  std::erase_if(result.config, is_there(had.config));
  std::erase_if(result.inject, is_there(had.inject));
  leave_out_args(spec, baseline, had, result);
  if (result.accelerators == had.accelerators) result.accelerators.reset();
  if (result.wrap == had.wrap) result.wrap.clear();
  if (result.patch == had.patch) result.patch.clear();
  return result;
}

std::string effect_key(std::string_view family, const Change& effect, std::string_view hardware) {
  const Json json = {{"family", std::string(family)}, {"change", encode(effect)}};
  return sha256_hex(dump_json(json)).substr(0, kEffectDigits) + hardware_mark(hardware);
}

bool is_for_other_hardware(std::string_view key, std::string_view hardware) {
  const std::size_t mark = key.find(':');
  return mark != key.npos && key.substr(mark) != hardware_mark(hardware);
}

std::string key(const Spec& spec, const Change& baseline, const Change& change,
                std::string_view hardware) {
  return effect_key(spec.family, canonical(spec, baseline, change), hardware);
}

}  // namespace amdahl::model
