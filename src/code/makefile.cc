#include "code/makefile.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace amdahl::code {
namespace {

constexpr auto kFlags = std::to_array<std::string_view>(
    {"CFLAGS", "CXXFLAGS", "CPPFLAGS", "OPTFLAGS", "OPT", "OPTIMIZE", "FLAGS", "CCFLAGS"});
constexpr const char* kMachine = " -march=native -ffp-contract=off";
constexpr const char* kFastest = "-O3 -march=native -ffp-contract=off";
constexpr const char* kFree = "-Ofast -march=native";

struct Variable {
  std::string_view name;
  std::size_t value = 0;  // Where it begins,
  std::size_t end = 0;    // and ends, before a comment.
  int line = 0;
};

std::vector<Variable> variables_of(std::string_view text) {
  std::vector<Variable> found;
  int number = 0;
  std::size_t at = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::size_t begin = at;
    at += line.size() + 1;
    const std::size_t equals = line.find('=');
    if (line.starts_with('\t') || equals == line.npos) continue;
    std::string_view name = trim(line.substr(0, equals));
    while (!name.empty() && std::string_view(":?+").find(name.back()) != name.npos) {
      name.remove_suffix(1);
    }
    const std::size_t comment = std::min(line.find('#', equals), line.size());
    found.push_back({trim(name), begin + equals + 1, begin + comment, number});
  }
  return found;
}

struct Word {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// "-O2" and the like in the text; nothing if there is none.
std::optional<Word> level_in(std::string_view text) {
  for (std::size_t at = text.find("-O"); at != text.npos; at = text.find("-O", at + 1)) {
    const bool starts = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t';
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    const std::string_view level = text.substr(at + 2, end - at - 2);
    const bool known =
        level.empty() || level == "fast" ||
        (level.size() == 1 && std::string_view("0123sgz").find(level[0]) != level.npos);
    if (starts && known) return Word{at, end};
  }
  return std::nullopt;
}

Edit edit(std::size_t begin, std::size_t end, std::string text) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), std::move(text)};
}

// Where a level stands, and the flags that are used with it.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  int line = 0;
  std::string_view flags;
};

// The level in text[begin, end) raised; nothing if none is there, or none is higher.
std::optional<FasterBuild> raised(std::string_view text, const Place& place, Rounding rounding) {
  const auto level = level_in(text.substr(place.begin, place.end - place.begin));
  if (!level) return std::nullopt;
  const std::size_t begin = place.begin + level->begin;
  const std::size_t end = place.begin + level->end;
  const std::string before(text.substr(begin, end - begin));
  const bool is_free = before == "-Ofast" || place.flags.find("-ffast-math") != text.npos;
  const bool fast = before == "-O3" || before == "-Ofast";
  const bool for_machine = place.flags.find("-march=") != text.npos;
  if (rounding == Rounding::kFree ? is_free : fast && for_machine) return std::nullopt;
  std::string after = rounding == Rounding::kFree ? kFree : fast ? before + kMachine : kFastest;
  return FasterBuild{{edit(begin, end, std::move(after))}, place.line, before};
}

bool is_rule_of(std::string_view line, std::string_view target) {
  const std::size_t colon = line.find(':');
  if (line.starts_with('\t') || colon == line.npos || line.substr(colon).starts_with(":=")) {
    return false;
  }
  return std::ranges::any_of(split(line.substr(0, colon), ' '),
                             [&](std::string_view word) { return trim(word) == target; });
}

// In the recipe of the target.
std::optional<FasterBuild> raised_in_recipe(std::string_view text, std::string_view target,
                                            Rounding rounding) {
  bool inside = false;
  int number = 0;
  std::size_t at = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::size_t begin = at;
    at += line.size() + 1;
    if (!line.starts_with('\t')) inside = is_rule_of(line, target);
    if (!inside || !line.starts_with('\t')) continue;
    if (level_in(line)) return raised(text, {begin, begin + line.size(), number, line}, rounding);
  }
  return std::nullopt;
}

}  // namespace

std::optional<FasterBuild> faster_build(std::string_view text, std::string_view target,
                                        Rounding rounding) {
  std::optional<FasterBuild> plain;  // Flags without a level.
  for (const Variable& variable : variables_of(text)) {
    if (std::ranges::find(kFlags, variable.name) == kFlags.end()) continue;
    const std::string_view value = text.substr(variable.value, variable.end - variable.value);
    if (level_in(value)) {
      return raised(text, {variable.value, variable.end, variable.line, text}, rounding);
    }
    const std::size_t end = variable.value + value.find_last_not_of(" \t\r\\") + 1;
    if (!plain && variable.name != "CPPFLAGS") {
      const std::string more = rounding == Rounding::kFree ? kFree : kFastest;
      plain = FasterBuild{{edit(end, end, " " + more)}, variable.line, ""};
    }
  }
  // A level that a recipe gives by itself comes after the variables, and counts.
  return level_in(text) ? raised_in_recipe(text, target, rounding) : plain;
}

bool makes(std::string_view makefile, std::string_view target) {
  return std::ranges::any_of(split(makefile, '\n'),
                             [&](std::string_view line) { return is_rule_of(line, target); });
}

}  // namespace amdahl::code
