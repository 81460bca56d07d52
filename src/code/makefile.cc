#include "code/makefile.h"

#include <algorithm>
#include <array>
#include <map>

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
  std::size_t value = 0;  // Its start,
  std::size_t end = 0;    // and ends, before a comment.
  int line = 0;
};

std::vector<Variable> variables_of(std::string_view text) {
  std::vector<Variable> found;
  int number = 0;
  std::size_t at = 0;
  bool goes_on = false;  // The line before ended with a backslash, in a variable.
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::size_t begin = at;
    at += line.size() + 1;
    const bool more = trim(line).ends_with('\\');
    if (goes_on) {
      found.back().end = begin + line.size();
      goes_on = more;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (line.starts_with('\t') || line.starts_with('#') || equals == line.npos) continue;
    std::string_view name = trim(line.substr(0, equals));
    while (!name.empty() && std::string_view(":?+").find(name.back()) != name.npos) {
      name.remove_suffix(1);
    }
    name = trim(name);
    name.remove_prefix(name.find_last_of(" \t:") + 1);  // "override CFLAGS", "run: CFLAGS".
    const std::size_t comment = std::min(line.find('#', equals), line.size());
    found.push_back({name, begin + equals + 1, begin + comment, number});
    goes_on = more && comment == line.size();
  }
  return found;
}

struct Word {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// "-O2" and similar in the text; nothing if there is none.
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

// Where a level may stand, and the flags that are used with it.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  int line = 0;
  std::string_view flags;
};

std::string_view text_at(std::string_view text, const Place& place) {
  return text.substr(place.begin, place.end - place.begin);
}

// What was found so far, and what was asked for before: the highest level, because lower ones are
// often those of a debug build.
struct Raised {
  FasterBuild build;
  bool any_level = false;

  void add(Edit edit, int line, const std::string& before) {
    if (build.edits.empty()) build.line = line;
    if (build.edits.empty() || before > build.before) build.before = before;
    build.edits.push_back(std::move(edit));
  }
  std::optional<FasterBuild> found() const {
    return build.edits.empty() ? std::nullopt : std::optional(build);
  }
};

// Raises the level at the place, if there is one and none is higher.
void raise_level(std::string_view text, const Place& place, Rounding rounding, Raised& raised) {
  const auto level = level_in(text_at(text, place));
  if (!level) return;
  raised.any_level = true;
  const std::size_t begin = place.begin + level->begin;
  const std::size_t end = place.begin + level->end;
  const std::string before(text.substr(begin, end - begin));
  if (const auto after = faster_level(before, place.flags, rounding)) {
    raised.add(edit(begin, end, *after), place.line, before);
  }
}

constexpr int kDeepest = 6;  // Variables in variables.

// With the values of variables in their place, as far as they are plain.
std::string expanded(std::string_view text, const std::map<std::string, std::string>& values,
                     int depth = 0) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char open = text[at] == '$' && at + 1 < text.size() ? text[at + 1] : ' ';
    const std::size_t close =
        open == '(' || open == '{' ? text.find(open == '(' ? ')' : '}', at) : text.npos;
    const std::string name(close == text.npos ? "" : text.substr(at + 2, close - at - 2));
    const auto value = values.find(name);
    if (value == values.end() || depth >= kDeepest) {
      made += text[at];
      continue;
    }
    made += expanded(value->second, values, depth + 1);
    at = close;
  }
  return made;
}

std::map<std::string, std::string> values_in(std::string_view text) {
  std::map<std::string, std::string> values;
  for (const Variable& variable : variables_of(text)) {
    const std::string_view value = text.substr(variable.value, variable.end - variable.value);
    const bool adds = variable.value >= 2 && text[variable.value - 2] == '+';
    std::string& kept = values[std::string(variable.name)];
    kept = adds ? kept + " " + std::string(trim(value)) : std::string(trim(value));
  }
  return values;
}

struct MakeRule {
  std::string_view head;      // As it is written: "run: run.c".
  std::vector<Place> recipe;  // Its lines.
};

std::vector<MakeRule> rules_of(std::string_view text) {
  std::vector<MakeRule> rules;
  int number = 0;
  std::size_t at = 0;
  bool inside = false;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::size_t begin = at;
    at += line.size() + 1;
    if (line.starts_with('\t')) {
      if (inside) rules.back().recipe.push_back({begin, begin + line.size(), number, line});
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string_view rest = line.substr(std::min(colon, line.size()));
    const bool assigns =
        line.find('=') < colon || rest.starts_with(":=") || rest.starts_with("::=");
    const bool is_condition = line.starts_with("if") || trim(line) == "else" || line == "endif";
    if (trim(line).empty() || line.starts_with('#') || is_condition) continue;
    inside = colon != line.npos && !assigns;
    if (inside) rules.push_back({line, {}});
  }
  return rules;
}

bool is_rule_of(const MakeRule& rule, std::string_view target,
                const std::map<std::string, std::string>& values) {
  const std::string head = expanded(rule.head, values);
  const auto words = split(std::string_view(head).substr(0, head.find(':')), ' ');
  return std::ranges::any_of(words, [&](std::string_view word) {
    word = trim(word);
    return word == target || (word.starts_with("./") && word.substr(2) == target);
  });
}

// Whether it makes object files: "%.o: %.c", ".c.o:", "$(OBJ): ...", "ray.o: ray.c".
bool makes_objects(const MakeRule& rule, const std::map<std::string, std::string>& values) {
  const std::string head = expanded(rule.head, values);
  const std::string_view made = std::string_view(head).substr(0, head.find(':'));
  return made.find(".o") != made.npos;
}

// Where a compiler is called, after its name; nothing if the line calls none.
std::optional<std::size_t> after_compiler(std::string_view line) {
  constexpr auto kCompilers =
      std::to_array<std::string_view>({"$(CC)", "${CC}", "$(CXX)", "${CXX}", "$(CPP)", "gcc", "g++",
                                       "cc", "c++", "clang", "clang++"});
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t@-", at);
    if (begin == line.npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    if (std::ranges::find(kCompilers, word) != kCompilers.end()) return end;
    at = end;
  }
  return std::nullopt;
}

// Where neither a variable nor a recipe has a level: behind the plain flags, or else behind the
// compiler, or else for the rules that make has built in.
void add_level(std::string_view text, const std::vector<MakeRule>& rules, const std::string& flags,
               Raised& raised) {
  for (const Variable& variable : variables_of(text)) {
    const bool is_flags = std::ranges::find(kFlags, variable.name) != kFlags.end();
    if (!is_flags || variable.name == "CPPFLAGS") continue;
    const std::string_view value = text.substr(variable.value, variable.end - variable.value);
    const std::size_t last = value.find_last_not_of(" \t\r\\");
    const std::size_t end = variable.value + (last == value.npos ? 0 : last + 1);
    raised.add(edit(end, end, " " + flags), variable.line, "");
  }
  if (!raised.build.edits.empty()) return;
  bool has_recipe = false;
  for (const MakeRule& rule : rules) {
    for (const Place& line : rule.recipe) {
      has_recipe = true;
      const auto behind = after_compiler(text_at(text, line));
      if (!behind) continue;
      const std::size_t at = line.begin + *behind;
      raised.add(edit(at, at, " " + flags), line.line, "");
    }
  }
  if (has_recipe || rules.empty()) return;
  raised.add(edit(0, 0, "CFLAGS += " + flags + "\nCXXFLAGS += " + flags + "\n"), 1, "");
}

}  // namespace

std::optional<std::string> faster_level(const std::string& before, std::string_view flags,
                                        Rounding rounding) {
  const bool is_free = before == "-Ofast" || flags.find("-ffast-math") != flags.npos;
  const bool fast = before == "-O3" || before == "-Ofast";
  const bool for_machine = flags.find("-march=") != flags.npos;
  if (rounding == Rounding::kFree)
    return is_free ? std::nullopt : std::optional<std::string>(kFree);
  if (fast && for_machine) return std::nullopt;
  return fast ? before + kMachine : std::string(kFastest);
}

std::string last_level(std::string_view flags) {
  std::string last;
  for (std::size_t from = 0; from < flags.size();) {
    const auto level = level_in(flags.substr(from));
    if (!level) break;
    last = flags.substr(from + level->begin, level->end - level->begin);
    from += level->end;
  }
  return last;
}

std::optional<FasterBuild> faster_build(std::string_view text, std::string_view target,
                                        Rounding rounding) {
  Raised raised;
  for (const Variable& variable : variables_of(text)) {
    if (std::ranges::find(kFlags, variable.name) == kFlags.end()) continue;
    raise_level(text, {variable.value, variable.end, variable.line, text}, rounding, raised);
  }
  const std::map<std::string, std::string> values = values_in(text);
  std::vector<MakeRule> rules;
  for (const MakeRule& rule : rules_of(text)) {
    if (is_rule_of(rule, target, values) || makes_objects(rule, values)) rules.push_back(rule);
  }
  // A level that a recipe gives by itself comes after the variables, and counts.
  for (const MakeRule& rule : rules) {
    for (const Place& line : rule.recipe) raise_level(text, line, rounding, raised);
  }
  if (!raised.any_level) {
    add_level(text, rules, rounding == Rounding::kFree ? kFree : kFastest, raised);
  }
  return raised.found();
}

std::optional<std::string> maker_of(std::string_view makefile, std::string_view target) {
  const std::map<std::string, std::string> values = values_in(makefile);
  const std::vector<MakeRule> rules = rules_of(makefile);
  for (const MakeRule& rule : rules) {
    if (is_rule_of(rule, target, values)) return std::string(target);
  }
  // Not named after what it makes: "all: ray.c" with "cc -o ray ray.c" below.
  for (const MakeRule& rule : rules) {
    const std::string_view name = trim(rule.head.substr(0, rule.head.find(':')));
    if (name.empty() || name.find_first_of(" $%.") != name.npos) continue;
    for (const Place& line : rule.recipe) {
      const std::string recipe = expanded(text_at(makefile, line), values) + " ";
      const bool is_made = recipe.find(" -o " + std::string(target) + " ") != recipe.npos ||
                           recipe.find(" -o ./" + std::string(target) + " ") != recipe.npos;
      if (is_made) return std::string(name);
    }
  }
  return std::nullopt;
}

}  // namespace amdahl::code
