#include "code/script.h"

#include <cctype>

#include "base/text.h"

namespace amdahl::code {
namespace {

constexpr std::size_t kKnownToTheKernel = 15;

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

// Up to a # that begins a word.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t' || line[i - 1] == ';';
    if (line[i] == '#' && begins) return line.substr(0, i);
  }
  return line;
}

bool names(std::string_view line, std::string_view program) {
  for (std::size_t at = line.find(program); at != line.npos; at = line.find(program, at + 1)) {
    const char before = at > 0 ? line[at - 1] : ' ';
    std::size_t end = at + program.size();
    if (program.size() == kKnownToTheKernel) {
      while (end < line.size() && is_of_word(line[end])) ++end;
    }
    const char after = end < line.size() ? line[end] : ' ';
    const bool is_variable = before == '$' || before == '{' || after == '=';
    const bool is_path_on = after == '/';
    if (!is_of_word(before) && !is_of_word(after) && !is_variable && !is_path_on) return true;
  }
  return false;
}

}  // namespace

bool is_script(std::string_view path, std::string_view bytes) {
  if (path.ends_with(".sh") || path.ends_with(".bash")) return true;
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  return first.starts_with("#!") && trim(first).ends_with("sh");
}

std::vector<int> lines_naming(std::string_view script, std::string_view program) {
  std::vector<int> found;
  if (program.empty()) return found;
  int number = 0;
  for (const std::string_view line : split(script, '\n')) {
    ++number;
    if (names(without_comment(line), program)) found.push_back(number);
  }
  return found;
}

}  // namespace amdahl::code
