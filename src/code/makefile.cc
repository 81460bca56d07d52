#include "code/makefile.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace amdahl::code {
namespace {

constexpr auto kFlags = std::to_array<std::string_view>(
    {"CFLAGS", "CXXFLAGS", "CPPFLAGS", "OPTFLAGS", "OPT", "OPTIMIZE", "FLAGS", "CCFLAGS"});
constexpr std::string_view kFastest = "-O3 -march=native -ffp-contract=off";

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
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
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

}  // namespace

std::optional<FasterBuild> faster_build(std::string_view text) {
  const bool for_machine = text.find("-march=") != text.npos;
  std::optional<FasterBuild> plain;  // Flags without a level.
  for (const Variable& variable : variables_of(text)) {
    if (std::ranges::find(kFlags, variable.name) == kFlags.end()) continue;
    const std::string_view value = text.substr(variable.value, variable.end - variable.value);
    const auto level = level_in(value);
    if (!level) {
      const std::size_t end = variable.value + value.find_last_not_of(" \t\r\\") + 1;
      if (!plain && variable.name != "CPPFLAGS") {
        plain = FasterBuild{{edit(end, end, " " + std::string(kFastest))}, variable.line, ""};
      }
      continue;
    }
    const std::string before(value.substr(level->begin, level->end - level->begin));
    const bool fast = before == "-O3" || before == "-Ofast";
    if (fast && for_machine) return std::nullopt;
    const std::string after =
        fast ? before + " -march=native -ffp-contract=off" : std::string(kFastest);
    return FasterBuild{{edit(variable.value + level->begin, variable.value + level->end, after)},
                       variable.line,
                       before};
  }
  // A level that a rule gives by itself is not ours to overrule.
  if (plain && level_in(text)) return std::nullopt;
  return plain;
}

bool makes(std::string_view makefile, std::string_view target) {
  return std::ranges::any_of(split(makefile, '\n'), [&](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (line.starts_with('\t') || colon == line.npos || line.substr(colon).starts_with(":=")) {
      return false;
    }
    return std::ranges::any_of(split(line.substr(0, colon), ' '),
                               [&](std::string_view word) { return trim(word) == target; });
  });
}

}  // namespace amdahl::code
