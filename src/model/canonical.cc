#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "model/flags.h"
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

// Numbers in one spelling; text that is none comes back without the blanks around it.
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

// Runtimes that read their variables without regard to case.
bool ignores_case(std::string_view variable) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"OMP_WAIT_POLICY", "OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE", "OMP_DYNAMIC",
       "OMP_NESTED", "OMP_DISPLAY_ENV", "MKL_DYNAMIC"});
  return variable.starts_with("KMP_") || std::ranges::find(kNames, variable) != kNames.end();
}

std::string fold_variable(std::string_view name, std::string_view value) {
  std::string folded = fold_number(value);
  return ignores_case(name) ? lower(folded) : folded;
}

using Variables = std::map<std::string, std::optional<std::string>>;

Variables fold_env(const Spec& spec, const Change& baseline, const Change& change) {
  Variables before;
  for (const auto& [name, knob] : spec.knobs) {
    if (!knob.env.empty() && !knob.value.empty()) before[knob.env] = knob.value;
  }
  for (const auto& [name, value] : spec.env) before[name] = value;
  for (const auto& [name, value] : baseline.env) before[std::string(trim(name))] = value;

  Variables after;
  for (const auto& [given, value] : change.env) {
    const std::string name(trim(given));
    const auto folded = [&](const std::optional<std::string>& text) {
      return text ? std::optional(fold_variable(name, *text)) : std::nullopt;
    };
    const auto had = before.find(name);
    if (had != before.end() && folded(had->second) == folded(value)) continue;
    after[name] = folded(value);
  }
  return after;
}

// Whether setting the flag leaves a job as it is that is started by `argv`.
bool changes_nothing(const std::vector<std::string>& argv, const Spec& spec, const Flag& flag,
                     const std::optional<std::string>& value) {
  const std::optional<std::string> had = value_in(argv, flag);
  if (!had && value) {  // Absent: then the job has its default, if the spec names it.
    for (const auto& [name, knob] : spec.knobs) {
      if (knob.arg == flag.name()) {
        return !knob.value.empty() && fold_number(knob.value) == fold_number(*value);
      }
    }
    return false;
  }
  if (had && value && fold_number(*had) == fold_number(*value)) return true;
  std::vector<std::string> set = argv;
  return set_flag(set, flag, value) && set == argv;
}

// Flags by their first name, values folded.
Variables fold_flags(const Spec& spec, const Variables& args) {
  Variables folded;
  for (const auto& [given, given_value] : args) {
    const FlagAndValue apart = split_flag(given, given_value);
    folded[flag_named(spec, apart.flag).name()] =
        apart.value ? std::optional(fold_number(*apart.value)) : std::nullopt;
  }
  return folded;
}

Variables fold_args(const Spec& spec, const Change& baseline, const Change& change) {
  Change only_args;
  only_args.args = baseline.args;
  const Result<Plan> plan = make_plan(spec, only_args);
  const std::vector<std::string>& argv = plan ? plan->argv : spec.command;
  const Variables before = fold_flags(spec, baseline.args);

  Variables after = fold_flags(spec, change.args);
  std::erase_if(after, [&](const auto& item) {
    const auto& [flag, value] = item;
    const auto had = before.find(flag);
    if (had != before.end() && had->second == value) return true;
    return changes_nothing(argv, spec, flag_named(spec, flag), value);
  });
  return after;
}

std::map<std::string, std::string> fold_config(const Spec& spec, const Change& baseline,
                                               const Change& change) {
  std::map<std::string, std::string> before;
  for (const auto& [name, knob] : spec.knobs) {
    if (!knob.config.empty() && !knob.value.empty()) before[knob.config] = knob.value;
  }
  for (const auto& [place, value] : baseline.config) before[std::string(trim(place))] = value;
  std::map<std::string, std::string> after;
  for (const auto& [given, value] : change.config) {
    const std::string place(trim(given));
    const std::string folded = fold_number(value);
    const auto had = before.find(place);
    if (had == before.end() || fold_number(had->second) != folded) after[place] = folded;
  }
  return after;
}

// How many lines of the old and the new text the hunk goes on for.
struct Hunk {
  int before = 0;
  int after = 0;
  bool open() const { return before > 0 || after > 0; }
};

int lines_in(std::string_view range) {  // "-12,7" or "+12"
  const std::size_t comma = range.find(',');
  return comma == range.npos ? 1 : to_number<int>(range.substr(comma + 1)).value_or(0);
}

Hunk hunk_of(std::string_view line) {  // "@@ -12,7 +12,8 @@ context"
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 3 || words[0] != "@@") return {};
  return {lines_in(words[1]), lines_in(words[2])};
}

// Without what differs between two makings of the same diff: object names, times, line ends.
// Inside a hunk every byte may matter; its "@@" line tells whether line ends were rewritten.
std::string fold_patch(std::string_view patch) {
  std::string folded;
  Hunk hunk;
  bool rewritten = false;
  if (patch.ends_with('\n')) patch.remove_suffix(1);
  for (std::string_view line : split(patch, '\n')) {
    if (!hunk.open()) rewritten = line.ends_with('\r');
    if (rewritten && line.ends_with('\r')) line.remove_suffix(1);
    if (hunk.open()) {
      if (!line.starts_with('+') && !line.starts_with('\\')) --hunk.before;
      if (!line.starts_with('-') && !line.starts_with('\\')) --hunk.after;
    } else if (line.starts_with("@@ ")) {
      hunk = hunk_of(line);
    } else if (line.starts_with("index ") || line.empty()) {
      continue;
    } else if (line.starts_with("--- ") || line.starts_with("+++ ")) {
      line = line.substr(0, line.find('\t'));
    }
    folded += line;
    folded += '\n';
  }
  return folded;
}

}  // namespace

Change canonical(const Spec& spec, const Change& baseline, const Change& change) {
  Change result;
  result.env = fold_env(spec, baseline, change);
  result.args = fold_args(spec, baseline, change);
  result.config = fold_config(spec, baseline, change);
  const int before = baseline.accelerators.value_or(spec.accelerators);
  if (change.accelerators && *change.accelerators != before) {
    result.accelerators = change.accelerators;
  }
  for (const std::string& word : change.wrap) {
    if (!trim(word).empty()) result.wrap.emplace_back(trim(word));
  }
  if (result.wrap == baseline.wrap) result.wrap.clear();
  result.patch = fold_patch(change.patch);
  if (result.patch == fold_patch(baseline.patch)) result.patch.clear();
  result.needs_build = change.needs_build && !result.patch.empty();
  return result;
}

}  // namespace amdahl::model
