#include "model/change.h"

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::model {
namespace {

std::size_t lines_touched(const std::string& patch) {
  std::size_t touched = 0;
  for (const std::string_view line : split(patch, '\n')) {
    const bool header = line.starts_with("+++ ") || line.starts_with("--- ");
    if (!header && (line.starts_with('+') || line.starts_with('-'))) ++touched;
  }
  return touched;
}

// Two wrappers by the same program speak of the same thing; others nest.
std::vector<std::string> combine_wraps(const Change& earlier, const Change& later) {
  if (later.wrap.empty()) return earlier.wrap;
  if (earlier.wrap.empty() || earlier.wrap.front() == later.wrap.front()) return later.wrap;
  std::vector<std::string> wrap = later.wrap;
  wrap.insert(wrap.end(), earlier.wrap.begin(), earlier.wrap.end());
  return wrap;
}

std::string combine_patches(const std::string& earlier, const std::string& later) {
  if (earlier.empty() || later.empty() || earlier == later) return later.empty() ? earlier : later;
  return earlier + (earlier.ends_with('\n') ? "" : "\n") + later;
}

}  // namespace

bool is_empty(const Change& change) { return change == Change{}; }

std::string numeric_setting(const Change& change) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (to_number<double>(value)) names.push_back(name);
  };
  for (const auto& [name, value] : change.env) add(name, value.value_or(""));
  for (const auto& [flag, value] : change.args) add(flag, value.value_or(""));
  for (const auto& [place, value] : change.config) add(place, value);
  for (const auto& [fix, value] : change.inject) add("inject " + fix, value);
  const std::size_t settings =
      change.env.size() + change.args.size() + change.config.size() + change.inject.size();
  const bool alone = settings == 1 && !change.accelerators && change.wrap.empty() &&
                     change.patch.empty() && !change.needs_build;
  return alone && names.size() == 1 ? names.front() : "";
}

Change combine(const Change& earlier, const Change& later) {
  Change both = earlier;
  for (const auto& [name, value] : later.env) both.env[name] = value;
  for (const auto& [flag, value] : later.args) both.args[flag] = value;
  for (const auto& [place, value] : later.config) both.config[place] = value;
  for (const auto& [fix, value] : later.inject) both.inject[fix] = value;
  if (later.accelerators) both.accelerators = later.accelerators;
  both.wrap = combine_wraps(earlier, later);
  both.patch = combine_patches(earlier.patch, later.patch);
  both.needs_build = earlier.needs_build || later.needs_build;
  return both;
}

std::string describe(const Change& change) {
  std::vector<std::string> parts;
  for (const auto& [flag, value] : change.args) {
    if (!value) {
      parts.push_back("without " + flag);
    } else if (value->empty()) {
      parts.push_back(flag);
    } else {
      parts.push_back(fmt::format("{} {}", flag, shell_quote({{*value}})));
    }
  }
  for (const auto& [name, value] : change.env) {
    parts.push_back(value ? fmt::format("{}={}", name, *value) : "without " + name);
  }
  for (const auto& [place, value] : change.config) {
    parts.push_back(fmt::format("{} = {}", place, value));
  }
  if (change.accelerators) {
    parts.push_back(fmt::format("{} accelerator{}", *change.accelerators,
                                *change.accelerators == 1 ? "" : "s"));
  }
  if (!change.wrap.empty()) parts.push_back("under " + shell_quote(change.wrap));
  for (const auto& [fix, value] : change.inject) {
    parts.push_back(fmt::format("injected {}{}{}", fix, value.empty() ? "" : " ", value));
  }
  if (!change.patch.empty()) {
    const std::size_t touched = lines_touched(change.patch);
    parts.push_back(fmt::format("a patch of {} line{}{}", touched, touched == 1 ? "" : "s",
                                change.needs_build ? ", rebuilt" : ""));
  }
  return parts.empty() ? "no change" : join(parts, ", ");
}

}  // namespace amdahl::model
