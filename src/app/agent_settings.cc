#include "app/agent_settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "model/flags.h"
#include "model/frozen.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

// Variables by which code, files, servers or reports come in: names, and beginnings and ends of
// names.
constexpr auto kLoading = std::to_array<std::string_view>(
    {"ENV", "IFS", "HOME", "SHELL", "SHELLOPTS", "BASHOPTS", "PS4", "CLASSPATH"});
constexpr auto kLoadingStarts = std::to_array<std::string_view>(
    {"LD_", "PYTHON", "PERL5", "GIT_", "AMDAHL_", "DYLD_", "BASH_", "RUBY", "NODE_", "LUA_",
     "JULIA_", "R_PROFILE", "R_ENVIRON", "R_LIBS", "OPENSSL_", "OMP_TOOL", "NVTX_INJECTION",
     "CUDA_INJECTION", "XDG_"});
constexpr auto kLoadingEnds =
    std::to_array<std::string_view>({"PATH", "PRELOAD", "_FILE", "_OPTIONS", "_OPTS", "PLUGIN",
                                     "_LIBRARIES", "_LIBRARY", "_LIB", "_PROXY", "_proxy"});

bool may_load(const std::string& name) {
  return std::ranges::find(kLoading, name) != kLoading.end() ||
         std::ranges::any_of(kLoadingStarts, [&](auto part) { return name.starts_with(part); }) ||
         std::ranges::any_of(kLoadingEnds, [&](auto part) { return name.ends_with(part); });
}

// A shell takes functions from variables with other names.
bool is_plain_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

// A reference is filled in where the job starts, from the environment of the loop.
bool has_reference(const model::Change& change) {
  std::string all;
  for (const auto* values : {&change.env, &change.args}) {
    for (const auto& [name, value] : *values) all += name + "\n" + value.value_or("") + "\n";
  }
  for (const auto* values : {&change.config, &change.inject}) {
    for (const auto& [name, value] : *values) all += name + "\n" + value + "\n";
  }
  return contains(all, "{env:");
}

// From the repo's root; as it is if it is outside.
std::string in_repo(const model::Spec& spec, const std::string& file) {
  const fs::path whole = (fs::path(spec.workdir) / file).lexically_normal();
  const fs::path base = spec.repo.empty() ? fs::path(spec.workdir) : fs::path(spec.repo);
  return whole.lexically_relative(base.lexically_normal()).string();
}

Result<> check_config(const model::Spec& spec, const model::Change& change) {
  for (const auto& [place, value] : change.config) {
    const std::string path = in_repo(spec, place.substr(0, place.find('#')));
    if (path.empty() || path.starts_with("..") || model::is_frozen(spec, path)) {
      return bad_input(
          fmt::format("{}: a model may not set what is frozen or outside of the repo", place));
    }
  }
  return Ok{};
}

// Programs that run what their words name or hold.
bool runs_code(std::string_view word) {
  constexpr auto kRunners =
      std::to_array<std::string_view>({"env", "python", "pypy", "bash", "sh", "dash", "zsh", "ksh",
                                       "perl", "ruby", "node", "julia", "lua", "php", "Rscript"});
  word = word.substr(word.rfind('/') + 1);  // npos + 1 is 0.
  while (!word.empty() && (is_digit(word.back()) || word.back() == '.')) word.remove_suffix(1);
  return std::ranges::find(kRunners, word) != kRunners.end();
}

// The words of the command that say which code runs: those between such a program and its script,
// or the code itself ("-c", "-m", "--eval", a shell's "-lc").
std::vector<std::string> words_of_runners(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (!runs_code(command[i])) continue;
    const bool is_env = command[i] == "env" || command[i].ends_with("/env");
    const std::string_view with_value = is_env ? "-u -C" : "-W -X -o";
    while (i + 1 < command.size()) {
      const std::string& word = command[i + 1];
      const bool is_flag = word.size() > 1 && word.front() == '-';
      if (!is_flag && !(is_env && contains(word, "="))) break;
      words.push_back(word);
      i += word.size() == 2 && contains(with_value, word) ? 2 : 1;
    }
  }
  return words;
}

bool is_knob_flag(const model::Spec& spec, std::string_view flag) {
  return std::ranges::any_of(spec.knobs, [&](const auto& row) {
    const model::Knob& knob = row.second;
    return knob.arg == flag || std::ranges::find(knob.aliases, flag) != knob.aliases.end();
  });
}

Result<> check_flags(const model::Spec& spec, const model::Change& change) {
  const std::vector<std::string> taken = words_of_runners(spec.command);
  for (const auto& [given, value] : change.args) {
    const std::string flag = model::split_flag(spec, given, value).flag;
    const bool is_runners = std::ranges::any_of(taken, [&](const std::string& word) {
      return word == flag || word.starts_with(flag + "=");
    });
    if (is_runners && !is_knob_flag(spec, flag)) {
      return bad_input(fmt::format(
          "{} selects the code that runs; it is no flag of the job: propose a patch instead",
          flag));
    }
  }
  return Ok{};
}

constexpr std::string_view kBetweenPaths = "=:,; \t\n";

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBetweenPaths, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// What the spec itself names.
std::set<std::string> named_by(const model::Spec& spec) {
  std::vector<std::string> texts = spec.command;
  for (const auto& [name, value] : spec.env) texts.push_back(value);
  for (const auto& [name, knob] : spec.knobs) {
    texts.insert(texts.end(), {knob.value, knob.on, knob.off});
    texts.insert(texts.end(), knob.choices.begin(), knob.choices.end());
  }
  std::set<std::string> named(texts.begin(), texts.end());
  for (const std::string& text : texts) {
    for (std::string& part : parts_of(text)) named.insert(std::move(part));
  }
  return named;
}

bool leads_up(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || contains(path, "/../");
}

// The first part of the value that names a server, or a file outside of the repo, which the spec
// does not name; empty if there is none.
std::string outsider_in(const model::Spec& spec, const std::string& value) {
  const std::set<std::string> named = named_by(spec);
  if (named.contains(value)) return "";
  if (contains(value, "://")) return value;
  for (const std::string& part : parts_of(value)) {
    const bool is_path = part.front() == '/' || part.front() == '~' || leads_up(part);
    if (!is_path || named.contains(part)) continue;
    const std::string path = part.front() == '~' ? "" : in_repo(spec, part);
    if (path.empty() || leads_up(path)) return part;
  }
  return "";
}

Result<> check_values(const model::Spec& spec, const model::Change& change) {
  const auto check = [&](const std::string& name, const std::string& value) -> Result<> {
    const std::string outsider = outsider_in(spec, value);
    if (outsider.empty()) return Ok{};
    return bad_input(
        fmt::format("{}: '{}' is outside of the repo, and the spec does not name it; for files of "
                    "the job's own use {{out}} or {{state}}",
                    name, clip(outsider, 80)));
  };
  for (const auto* values : {&change.env, &change.args}) {
    for (const auto& [name, value] : *values) {
      if (value) TRY(check(name, *value));
      // "--out=/x" as a name alone.
      if (const std::size_t equals = name.find('='); equals != name.npos) {
        TRY(check(name.substr(0, equals), name.substr(equals + 1)));
      }
    }
  }
  for (const auto& [place, value] : change.config) TRY(check(place, value));
  return Ok{};
}

}  // namespace

bool is_knob_variable(const model::Spec& spec, const std::string& name) {
  return std::ranges::any_of(spec.knobs, [&](const auto& knob) { return knob.second.env == name; });
}

Result<> check_agents_settings(const model::Spec& spec, const model::Change& change) {
  for (const auto& [name, value] : change.env) {
    if (is_knob_variable(spec, name)) continue;
    if (!is_plain_name(name)) {
      return bad_input(fmt::format("'{}' is no name of a variable", clip(name, 80)));
    }
    if (may_load(name)) {
      return bad_input(fmt::format(
          "{} can load code or lead to files or servers: a model may not set it", name));
    }
  }
  if (has_reference(change)) {
    return bad_input("{env:NAME} would show a model's change a variable of the loop");
  }
  TRY(check_flags(spec, change));
  TRY(check_config(spec, change));
  TRY(check_values(spec, change));
  if (!change.wrap.empty()) return bad_input("a model may not put another program before the job");
  if (change.accelerators && *change.accelerators > spec.accelerators) {
    return bad_input(fmt::format("the job has {} accelerators, and a model may not ask for {}",
                                 spec.accelerators, *change.accelerators));
  }
  return Ok{};
}

}  // namespace amdahl::app
