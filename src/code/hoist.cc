#include "code/hoist.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.h"

namespace amdahl::code::python {
namespace {

constexpr std::size_t kLongestLoop = 20'000;   // Bytes that are looked at for one place.
constexpr std::size_t kLongestFile = 200'000;  // Bytes that are searched for "global".

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the name stands as a word of its own, from `from` on; npos if nowhere.
std::size_t find_name(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (std::size_t at = text.find(name, from); at != text.npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || (!is_word_char(text[at - 1]) && text[at - 1] != '.');
    const std::size_t end = at + name.size();
    if (starts && (end == text.size() || !is_word_char(text[end]))) return at;
  }
  return text.npos;
}
bool has_name(std::string_view text, std::string_view name) {
  return find_name(text, name) != text.npos;
}

// What stands before the "=" of an assignment; empty if the line assigns nothing.
std::string_view target_of(std::string_view line) {
  int depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '#' || c == '"' || c == '\'') return {};
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != '=' || depth != 0) continue;
    const bool compares = (i + 1 < line.size() && line[i + 1] == '=') ||
                          (i > 0 && std::string_view("=<>!").find(line[i - 1]) != line.npos);
    return compares ? std::string_view{} : line.substr(0, i);
  }
  return {};
}

// Whether the line gives the name another value: by an assignment, as what a loop goes over, or in
// another way that binds names.
bool binds(std::string_view line, std::string_view name) {
  const std::string_view code = trim(line);
  if (has_name(target_of(code), name)) return true;
  constexpr auto kWays = std::to_array<std::string_view>(
      {"for ", "async ", "with ", "except ", "import ", "from ", "del ", "global ", "nonlocal ",
       "def ", "class ", "match ", "case "});
  const bool may = std::ranges::any_of(kWays, [&](auto way) { return code.starts_with(way); });
  if (!may || !has_name(code, name)) return code.find(":=") != code.npos && has_name(code, name);
  // "for x in range(n)" binds x, and reads n.
  const std::size_t in = code.find(" in ");
  const bool is_loop = code.starts_with("for ") && in != code.npos;
  return !is_loop || has_name(code.substr(0, in), name);
}

bool is_constant(std::string_view name) {
  constexpr auto kConstants = std::to_array<std::string_view>({"True", "False", "None"});
  return std::ranges::find(kConstants, name) != kConstants.end();
}

// Calls that give the same for the same arguments, and whose result is a value of its own.
bool is_pure_call(std::string_view name) {
  constexpr auto kPure = std::to_array<std::string_view>(
      {"zeros", "ones", "full", "tensor", "arange", "eye", "linspace", "tril", "triu", "array",
       "asarray", "load", "loadtxt", "genfromtxt", "read_csv", "read_parquet"});
  constexpr auto kPlain = std::to_array<std::string_view>({"int", "float", "range", "min", "max"});
  const std::size_t dot = name.find('.');
  const std::string_view module = name.substr(0, dot);
  if (dot == name.npos) return std::ranges::find(kPlain, name) != kPlain.end();
  const bool known = module == "torch" || module == "np" || module == "numpy" || module == "pd" ||
                     module == "pandas";
  return known && std::ranges::find(kPure, name.substr(dot + 1)) != kPure.end();
}
bool is_pure_method(std::string_view name) {
  constexpr auto kPure = std::to_array<std::string_view>(
      {"to", "view", "reshape", "unsqueeze", "squeeze", "expand", "repeat", "bool", "float", "long",
       "int", "cuda", "contiguous", "transpose", "t", "astype"});
  return std::ranges::find(kPure, name) != kPure.end();
}

// torch.float32 and the like.
bool is_module(std::string_view name) {
  return name.starts_with("torch.") || name.starts_with("np.") || name.starts_with("numpy.");
}

// Settings that scripts read once and leave alone.
bool is_settings(std::string_view root) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"torch", "np", "numpy", "pd", "pandas", "args", "config", "cfg", "opt", "hparams"});
  return std::ranges::find(kNames, root) != kNames.end();
}

// What an expression reads.
struct Reads {
  std::vector<std::string_view> names;
  bool contents = false;  // What a name holds, which may change while the name does not.
  bool files = false;
};

void note_call(std::string_view name, Reads& reads) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  reads.contents |= last == "tensor" || last == "array" || last == "asarray";
  reads.files |= last.starts_with("load") || last.starts_with("read_") || last == "genfromtxt";
}

// Nothing if the expression does what may differ from pass to pass.
std::optional<Reads> reads_of(std::string_view text) {
  Reads reads;
  std::vector<std::string_view>& names = reads.names;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t close = text.find(c, i + 1);
      if (close == text.npos || text.substr(i, close - i).find('\\') != text.npos) {
        return std::nullopt;
      }
      i = close + 1;
      continue;
    }
    if (!is_word_char(c)) {
      if (c == '#' || c == '{' || c == ':') return std::nullopt;
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && (is_word_char(text[end]) || text[end] == '.')) ++end;
    const std::string_view name = text.substr(i, end - i);
    const bool is_method = i > 0 && text[i - 1] == '.';
    const std::size_t next = text.find_first_not_of(" \t", end);
    const char after = next == text.npos ? ' ' : text[next];
    i = end;
    if (c >= '0' && c <= '9') continue;
    if (after == '"' || after == '\'') return std::nullopt;  // f"..." may read anything.
    if (after == '(') {
      if (!(is_method ? is_pure_method(name) : is_pure_call(name))) return std::nullopt;
      note_call(name, reads);
    } else if (after == '=') {  // A keyword.
      continue;
    } else if (is_method) {
      return std::nullopt;
    } else if (name.find('.') != name.npos) {
      if (!is_settings(name.substr(0, name.find('.')))) return std::nullopt;
      if (!is_module(name)) names.push_back(name.substr(0, name.find('.')));
    } else if (!is_constant(name)) {
      names.push_back(name);
    }
  }
  return reads;
}

// Whether something in the loop writes into the value.
bool is_written_to(std::string_view loop, std::string_view name) {
  constexpr auto kWriters = std::to_array<std::string_view>(
      {"append", "extend", "insert", "pop", "update", "sort", "fill", "resize", "put", "clear",
       "requires_grad", "grad", "data"});
  for (std::size_t at = find_name(loop, name); at != loop.npos;
       at = find_name(loop, name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at >= 4 && loop.substr(at - 4, 4) == "out=") return true;
    if (end >= loop.size() || loop[end] != '.') continue;
    std::size_t last = end + 1;
    while (last < loop.size() && is_word_char(loop[last])) ++last;
    const std::string_view method = loop.substr(end + 1, last - end - 1);
    const bool writes = std::ranges::find(kWriters, method) != kWriters.end();
    if (writes || method.ends_with('_')) return true;
  }
  return false;
}

std::size_t line_begin(std::string_view bytes, std::size_t at) {
  const std::size_t newline = at == 0 ? bytes.npos : bytes.rfind('\n', at - 1);
  return newline == bytes.npos ? 0 : newline + 1;
}

// How far the statements of the loop stand in, at least.
std::size_t body_column(std::string_view loop) {
  std::size_t least = loop.npos;
  bool is_head = true;
  for (const std::string_view line : split(loop, '\n')) {
    const std::size_t column = line.find_first_not_of(" \t");
    if (!is_head && column != line.npos && line[column] != '#') least = std::min(least, column);
    is_head = false;
  }
  return least;
}

// Whether no line of the loop binds it, but for `times` of them.
bool is_bound(std::string_view loop, std::string_view name, int times) {
  int count = 0;
  for (const std::string_view line : split(loop, '\n')) count += binds(line, name) ? 1 : 0;
  return count > times;
}

// Whether all that is read is the same in every pass of the loop.
bool stay_the_same(const Reads& reads, std::string_view loop, std::string_view bytes) {
  if (reads.contents && !reads.names.empty()) return false;
  constexpr auto kWrites = std::to_array<std::string_view>({"save", "write", "dump", "to_csv"});
  const auto stands = [&](std::string_view word) { return loop.find(word) != loop.npos; };
  if (reads.files && std::ranges::any_of(kWrites, stands)) return false;
  if (!reads.names.empty() && bytes.size() > kLongestFile) return false;
  return std::ranges::none_of(reads.names, [&](std::string_view name) {
    return is_bound(loop, name, 0) || is_written_to(loop, name) ||
           bytes.find("global " + std::string(name)) != bytes.npos;
  });
}

}  // namespace

std::vector<Edit> hoisted(const Subject& subject) {
  const Site& site = subject.site;
  const std::string_view bytes = subject.facts.bytes;
  if (site.loop < 0 || site.is_alone || site.in_condition || site.has_splat) return {};
  const Loop& loop = subject.facts.loops[static_cast<std::size_t>(site.loop)];
  const Range& statement = site.statement;
  const bool holds = loop.range.begin < statement.begin && statement.end <= loop.range.end;
  if (!holds || loop.range.end - loop.range.begin > kLongestLoop) return {};
  const std::string_view around = bytes.substr(loop.range.begin, loop.range.end - loop.range.begin);
  const std::string_view text = bytes.substr(statement.begin, statement.end - statement.begin);
  const std::string_view target = target_of(text);
  const std::string_view name = trim(target);
  const bool is_plain = !name.empty() && std::ranges::all_of(name, is_word_char);
  const auto read = is_plain ? reads_of(text.substr(target.size() + 1)) : std::nullopt;
  if (!read) return {};
  const std::size_t begin = line_begin(bytes, statement.begin);
  const std::size_t newline = std::min(bytes.find('\n', statement.end), bytes.size());
  const std::size_t head = line_begin(bytes, loop.range.begin);
  const std::string_view indent = bytes.substr(head, loop.range.begin - head);
  const bool has_lines =
      trim(bytes.substr(begin, statement.begin - begin)).empty() && newline < bytes.size() &&
      trim(bytes.substr(statement.end, newline - statement.end)).empty() && trim(indent).empty();
  if (!has_lines || body_column(around) != statement.begin - begin) return {};
  const std::string_view before = around.substr(0, statement.begin - loop.range.begin);
  if (has_name(before, name) || is_bound(around, name, 1) || is_written_to(around, name)) return {};
  if (!stay_the_same(*read, around, bytes)) return {};
  const auto at = static_cast<std::uint32_t>(head);
  return {{at, at, std::string(indent) + std::string(text) + "\n"},
          {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(newline + 1), ""}};
}

}  // namespace amdahl::code::python
