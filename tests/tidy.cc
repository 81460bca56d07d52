#include "tidy.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <regex>

namespace amdahl::tidy {
namespace {

constexpr int kColumns = 100;
constexpr int kLinesAFile = 500;
constexpr int kLinesAFunction = 70;

struct Ban {
  std::string_view text;
  std::string_view room;  // The one folder where it is allowed; empty for nowhere.
  std::string_view instead;
  bool whole_word = false;
};

constexpr Ban kBans[] = {
    {"_clock::now", "os", "os::Clock"},
    {"random_device", "os", "the seed in the experiment"},
    {"std::cout", "cli", "a returned string"},
    {"throw", "", "Result", true},
    {"using namespace std;", "", "std::"},
    // One place writes verdicts.
    {"Judged{", "loop", "loop::Experiments"},
    {"loop::judged(", "loop", "loop::Experiments"},
};

// Files are opened by the edge; tests of these rooms may read their fixtures.
constexpr std::string_view kPureRooms[] = {"base",        "model",   "stats",   "trace",  "fleet",
                                           "code",        "scan",    "profile", "refute", "dream",
                                           "hypothesize", "compare", "loop"};
constexpr Ban kOpens[] = {
    {"fopen", "", "bytes as an argument"},
    {"fstream", "", "bytes as an argument"},
    {"::open(", "", "bytes as an argument", true},
};

constexpr std::string_view kMacros[] = {"CHECK", "TRY"};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool holds(std::string_view line, const Ban& ban) {
  for (auto at = line.find(ban.text); at != line.npos; at = line.find(ban.text, at + 1)) {
    const auto end = at + ban.text.size();
    const bool word_before = at > 0 && in_word(line[at - 1]);
    const bool word_after = in_word(ban.text.back()) && end < line.size() && in_word(line[end]);
    if (!ban.whole_word || (!word_before && !word_after)) return true;
  }
  return false;
}

// Where the literal or comment that starts at `at` ends; `at` itself if none starts there.
std::size_t end_of_blank(std::string_view text, std::size_t at) {
  const auto past = [&](std::string_view mark, std::size_t from) {
    const auto found = text.find(mark, from);
    return found == text.npos ? text.size() : found + mark.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return past("*/", at + 2);
  if (rest.starts_with("R\"") && (at == 0 || !in_word(text[at - 1]))) {
    const auto open = text.find('(', at);
    if (open == text.npos) return text.size();
    return past(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  const char quote = text[at];
  const bool separates_digits = quote == '\'' && at > 0 && in_word(text[at - 1]);
  if ((quote != '"' && quote != '\'') || separates_digits) return at;
  for (auto i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return at + 1;
}

// Preprocessor lines, with those they continue on, made blank: their braces need not match.
std::string without_directives(std::string code) {
  bool inside = false;
  for (std::size_t at = 0; at < code.size();) {
    const auto end = std::min(code.find('\n', at), code.size());
    const std::string_view line = std::string_view(code).substr(at, end - at);
    inside = inside || trimmed(line).starts_with('#');
    const bool goes_on = trimmed(line).ends_with('\\');
    if (inside)
      std::fill(code.begin() + static_cast<long>(at), code.begin() + static_cast<long>(end), ' ');
    inside = inside && goes_on;
    at = end + 1;
  }
  return code;
}

enum class Scope { kOpen, kFunction, kOther };  // kOpen: functions may be defined in it.

bool starts_with_word(std::string_view head, std::string_view word) {
  return head.starts_with(word) && (head.size() == word.size() || !in_word(head[word.size()]));
}

// What a brace opens, from the text between it and the statement before.
Scope scope_of(std::string_view head) {
  const auto opens = std::count(head.begin(), head.end(), '(');
  const auto closes = std::count(head.begin(), head.end(), ')');
  if (closes > 0 && opens == closes && !head.ends_with('=')) return Scope::kFunction;
  if (head.find('(') != head.npos || head.ends_with('=')) return Scope::kOther;
  constexpr std::string_view kOpeners[] = {
      "namespace", "inline namespace", "extern", "struct", "class", "union", "template"};
  const auto opener = [&](std::string_view word) { return starts_with_word(head, word); };
  return std::any_of(std::begin(kOpeners), std::end(kOpeners), opener) ? Scope::kOpen
                                                                       : Scope::kOther;
}

// "public:" and the like belong to no statement.
std::string_view without_access(std::string_view head) {
  for (const std::string_view label : {"public:", "private:", "protected:"}) {
    if (head.starts_with(label)) return trimmed(head.substr(label.size()));
  }
  return head;
}

void check_line(std::string_view path, std::string_view code, int number,
                std::vector<Fault>& faults) {
  const std::string_view inside = path.substr(std::string_view("src/").size());
  const std::string_view room = inside.substr(0, inside.find('/'));
  const auto check = [&](const Ban& ban) {
    if (room == ban.room || !holds(code, ban)) return;
    faults.push_back(
        {number, std::string(ban.text) + " is banned here, use " + std::string(ban.instead)});
  };
  for (const Ban& ban : kBans) check(ban);
  const bool pure =
      std::find(std::begin(kPureRooms), std::end(kPureRooms), room) != std::end(kPureRooms);
  if (!pure || path.ends_with("_test.cc")) return;
  for (const Ban& ban : kOpens) check(ban);
}

void check_macro(std::string_view code, int number, std::vector<Fault>& faults) {
  std::string_view line = trimmed(code);
  constexpr std::string_view kDefine = "#define ";
  if (!line.starts_with(kDefine)) return;
  line = trimmed(line.substr(kDefine.size()));
  const auto end = std::find_if_not(line.begin(), line.end(), in_word);
  const std::string_view name = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  if (std::find(std::begin(kMacros), std::end(kMacros), name) != std::end(kMacros)) return;
  faults.push_back({number, std::string(name) + ": no third macro without a design note"});
}

std::string_view stem(std::string_view path) {
  if (const auto slash = path.rfind('/'); slash != path.npos) path.remove_prefix(slash + 1);
  path = path.substr(0, path.rfind('.'));
  if (path.ends_with("_test")) path.remove_suffix(5);
  return path;
}

// Whether a source (or its test) includes the header it implements.
bool is_own(std::string_view path, std::string_view include) {
  if (!path.ends_with(".cc") || !path.starts_with("src/")) return false;
  std::string own(path.substr(4, path.rfind('/') - 3));
  own += std::string(stem(path)) + ".h";
  return include == '"' + own + '"';
}

// Which of the four blocks an include belongs to, as .clang-format sorts them.
int block_of(std::string_view path, std::string_view include, bool first) {
  if (include.starts_with('"')) {
    const std::string_view name = include.substr(1, include.find('"', 1) - 1);
    return first && path.ends_with(".cc") && stem(name) == stem(path) ? 1 : 4;
  }
  const std::string_view name = include.substr(1, include.find('>') - 1);
  const auto plain = [](char c) {
    return in_word(c) && std::isupper(static_cast<unsigned char>(c)) == 0;
  };
  return std::all_of(name.begin(), name.end(), plain) ? 2 : 3;
}

void check_includes(std::string_view path, const std::vector<std::string_view>& lines,
                    std::vector<Fault>& faults) {
  int last_block = 0;
  bool gap = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trimmed(lines[i]);
    const int number = static_cast<int>(i) + 1;
    constexpr std::string_view kInclude = "#include ";
    if (line.empty()) gap = true;
    if (line.empty() || line.starts_with("//") || line == "#pragma once") continue;
    if (!line.starts_with(kInclude)) break;
    const std::string_view include = line.substr(kInclude.size());
    const bool first = last_block == 0;
    if (!first && is_own(path, include)) faults.push_back({number, "the own header comes first"});
    const int block = block_of(path, include, first);
    if (block < last_block) {
      faults.push_back({number, "includes go own header, standard, libraries, ours"});
    } else if (block != last_block && !gap) {
      faults.push_back({number, "a blank line parts the blocks of includes"});
    }
    last_block = std::max(block, last_block);
    gap = false;
  }
}

// The words of a page that stand in backticks, with their line; fenced blocks are left out.
std::vector<Mention> quoted_words(std::string_view page) {
  std::vector<Mention> words;
  bool fenced = false;
  int number = 0;
  for (const std::string_view line : lines_of(page)) {
    ++number;
    if (trimmed(line).starts_with("```")) fenced = !fenced;
    if (fenced) continue;
    std::size_t at = line.find('`');
    while (at != line.npos) {
      const auto end = line.find('`', at + 1);
      if (end == line.npos) break;
      std::string word;
      for (const char c : std::string(line.substr(at + 1, end - at - 1)) + " ") {
        if (c != ' ') {
          word += c;
        } else if (!word.empty()) {
          words.push_back({number, std::move(word)});
          word.clear();
        }
      }
      at = line.find('`', end + 1);
    }
  }
  return words;
}

// `word` as a path of this repository that must exist, if that is what it is.
std::optional<std::string> as_path(std::string word) {
  constexpr std::string_view kRoots[] = {"src/",   "docs/",  "script/", "examples/", "playbook/",
                                         "tests/", "bench/", "cmake/",  ".ci/"};
  if (word.starts_with("./")) word.erase(0, 2);
  while (!word.empty() && std::string_view(",.;:)").find(word.back()) != std::string_view::npos) {
    word.pop_back();
  }
  word = word.substr(0, word.find('#'));
  const bool ours = std::any_of(std::begin(kRoots), std::end(kRoots),
                                [&](std::string_view root) { return word.starts_with(root); });
  const bool pattern = word.find_first_of("<>*{}$?=|") != word.npos ||
                       word.find("NNNN") != word.npos || word.find("…") != word.npos ||
                       word.find("...") != word.npos;
  if (!ours || pattern) return std::nullopt;
  return word;
}

}  // namespace

std::string code_of(std::string_view text) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = end_of_blank(text, at);
    for (auto i = at; i < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
  return code;
}

int columns(std::string_view line) {
  const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<int>(std::count_if(line.begin(), line.end(), starts));
}

std::vector<Function> functions(std::string_view text) {
  const std::string code = without_directives(code_of(text));
  const auto line_at = [&](std::size_t at) {
    return 1 +
           static_cast<int>(std::count(code.begin(), code.begin() + static_cast<long>(at), '\n'));
  };
  struct Brace {
    Scope scope;
    int line;
  };
  std::vector<Function> found;
  std::vector<Brace> open;
  std::size_t head_start = 0;  // Just past the statement before.
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char c = code[at];
    if (c == '{') {
      const std::string_view head =
          without_access(trimmed(std::string_view(code).substr(head_start, at - head_start)));
      const bool may_define = open.empty() || open.back().scope == Scope::kOpen;
      const auto first = static_cast<std::size_t>(head.data() - code.data());
      open.push_back(
          {may_define ? scope_of(head) : Scope::kOther, line_at(head.empty() ? at : first)});
    } else if (c == '}' && !open.empty()) {
      const Brace brace = open.back();
      open.pop_back();
      if (brace.scope == Scope::kFunction) {
        found.push_back({brace.line, line_at(at) - brace.line + 1});
      }
    }
    if (c == '{' || c == '}' || c == ';') head_start = at + 1;
  }
  return found;
}

std::vector<Fault> faults_of_source(std::string_view path, std::string_view text) {
  std::vector<Fault> faults;
  const std::vector<std::string_view> lines = lines_of(text);
  const std::string code = code_of(text);
  const std::vector<std::string_view> code_lines = lines_of(code);
  const std::string_view file = path.substr(path.rfind('/') + 1);

  if (path.ends_with(".h") &&
      (lines.empty() || !lines[0].starts_with("// " + std::string(file) + ": "))) {
    faults.push_back(
        {1, "the first line says what the file is for: // " + std::string(file) + ": …"});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (const int wide = columns(lines[i]); wide > kColumns) {
      faults.push_back({number, std::to_string(wide) + " columns, at most 100"});
    }
    if (path.starts_with("src/")) check_line(path, code_lines[i], number, faults);
    check_macro(code_lines[i], number, faults);
    if (lines[i].starts_with("#include \"../")) {
      faults.push_back({number, "#include \"../ is banned here, use the path from src/"});
    }
  }
  check_includes(path, lines, faults);
  for (const Function& function : functions(text)) {
    if (function.lines <= kLinesAFunction) continue;
    faults.push_back(
        {function.line, "a function of " + std::to_string(function.lines) + " lines, at most 70"});
  }
  if (static_cast<int>(lines.size()) > kLinesAFile) {
    faults.push_back({0, std::to_string(lines.size()) + " lines, at most 500: split it"});
  }
  return faults;
}

std::vector<std::string> unnamed_in(std::string_view text) {
  static const std::regex kOpens(R"re(^namespace( [a-z_:0-9]+)? \{$)re");
  static const std::regex kType(R"re(^(?:struct|class|enum class) ([A-Z]\w*))re");
  static const std::regex kConstant(R"re(^(?:inline )?const(?:expr)? .*?\b(k[A-Z]\w*)[ \[{])re");
  static const std::regex kFunction(
      R"re(^[A-Za-z][\w:<>,&* ]* [&*]?([a-z_]\w*)\((.*)\)[^()]*\{)re");
  static const std::regex kLastWord(R"re( ?\w+( =[^,]*)?(, |$))re");
  const std::string code = code_of(text);
  std::vector<std::string> spaces;
  std::vector<std::string> found;
  std::string head;  // Of a function, which may take several lines.
  for (const std::string_view view : lines_of(code)) {
    const std::string line(view);
    std::smatch match;
    if (line.starts_with("}  ") && !spaces.empty() && trimmed(line) == "}") spaces.pop_back();
    if (std::regex_match(line, match, kOpens)) {
      spaces.push_back(match[1]);
      continue;
    }
    if (spaces.empty() || !spaces.back().empty()) continue;
    std::string within;
    for (const std::string& space : spaces) within += std::string(trimmed(space)) + "::";
    const bool starts = !line.empty() && line.front() != ' ' && line.front() != '}';
    if (starts) head.clear();
    if (!starts && head.empty()) continue;
    if (std::regex_search(line, match, kType) || std::regex_search(line, match, kConstant)) {
      if (line.find(';') == line.npos || line.find('=') != line.npos) {
        found.push_back(within + match[1].str());
      }
    } else {
      head += (starts ? "" : " ") + std::string(trimmed(line));
      if (head.find('{') == head.npos && head.find(';') == head.npos) continue;
      if (std::regex_search(head, match, kFunction)) {
        found.push_back(within + match[1].str() + "(" +
                        std::regex_replace(match[2].str(), kLastWord, "$2") + ")");
      }
      head.clear();
    }
  }
  return found;
}

std::vector<Mention> paths_in(std::string_view page) {
  std::vector<Mention> found;
  for (const Mention& word : quoted_words(page)) {
    if (auto path = as_path(word.text)) found.push_back({word.line, std::move(*path)});
  }
  constexpr std::string_view kScript = "./script/";
  int number = 0;
  for (const std::string_view line : lines_of(page)) {
    ++number;
    for (auto at = line.find(kScript); at != line.npos; at = line.find(kScript, at + 1)) {
      const auto end = line.find_first_of(" `)\"',|", at);
      auto path = as_path(std::string(line.substr(at, std::min(end, line.size()) - at)));
      if (path) found.push_back({number, std::move(*path)});
    }
  }
  return found;
}

std::vector<Mention> links_in(std::string_view page) {
  std::vector<Mention> found;
  int number = 0;
  for (const std::string_view line : lines_of(page)) {
    ++number;
    for (auto at = line.find("]("); at != line.npos; at = line.find("](", at + 1)) {
      const auto end = line.find(')', at);
      if (end == line.npos) break;
      const std::string_view target = line.substr(at + 2, end - at - 2);
      const std::string_view file = target.substr(0, target.find('#'));
      if (file.empty() || file.find(':') != file.npos) continue;  // A part of this page, or a URL.
      found.push_back({number, std::string(file)});
    }
  }
  return found;
}

std::vector<Mention> symbols_in(std::string_view page, const std::vector<std::string>& rooms) {
  std::vector<Mention> found;
  for (const Mention& word : quoted_words(page)) {
    const auto colons = word.text.find("::");
    if (colons == word.text.npos) continue;
    if (std::find(rooms.begin(), rooms.end(), word.text.substr(0, colons)) == rooms.end()) continue;
    const auto end = std::find_if_not(word.text.begin() + static_cast<long>(colons) + 2,
                                      word.text.end(), in_word);
    found.push_back({word.line, std::string(word.text.begin(), end)});
  }
  return found;
}

}  // namespace amdahl::tidy
