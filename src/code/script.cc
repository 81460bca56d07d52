#include "code/script.h"

#include <algorithm>
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

// Lines of the script, with continued ones joined.
std::vector<std::string> joined_lines(std::string_view script) {
  std::vector<std::string> lines;
  bool goes_on = false;
  for (std::string_view line : split(script, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool next = line.ends_with('\\');
    if (next) line.remove_suffix(1);
    if (goes_on) {
      lines.back().append(line);
    } else {
      lines.emplace_back(line);
    }
    goes_on = next;
  }
  return lines;
}

// The words of a line; nothing if a shell would make others of them.
std::optional<std::vector<std::string>> plain_words(std::string_view line) {
  constexpr std::string_view kOfShells = "$`;&|<>()*?~{}!\\";
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : line) {
    const bool is_blank = quote == 0 && (c == ' ' || c == '\t');
    const bool expands = quote == '\'' ? false : kOfShells.find(c) != kOfShells.npos;
    if (expands) return std::nullopt;
    if (is_blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

// "NAME=value".
bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos || equals == 0 || std::isdigit(static_cast<unsigned char>(word[0]))) {
    return false;
  }
  return word.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == equals;
}

// Says where and when the job runs; what it prints goes into no result.
bool only_prints(std::string_view line) {
  const std::string_view first = line.substr(0, line.find_first_of(" \t"));
  constexpr std::string_view kPrints[] = {"echo", "date", "hostname", "pwd", "nvidia-smi"};
  if (std::ranges::find(kPrints, first) == std::ranges::end(kPrints)) return false;
  std::string rest(line);
  for (const std::string_view harmless : {"$(date)", "$(hostname)", "$(pwd)"}) {
    for (std::size_t at = 0; (at = rest.find(harmless, at)) != rest.npos;) {
      rest.erase(at, harmless.size());
    }
  }
  return rest.find_first_of(";&|<>`\\") == rest.npos && rest.find("$(") == rest.npos;
}

// "cd FOLDER"; where the job was submitted changes nothing.
bool changes_folder(std::string_view line, ScriptCommand& command) {
  if (!line.starts_with("cd ") || !command.words.empty() || !command.folder.empty()) return false;
  for (const std::string_view here : {"$SLURM_SUBMIT_DIR", "\"$SLURM_SUBMIT_DIR\"",
                                      "${SLURM_SUBMIT_DIR}", "\"${SLURM_SUBMIT_DIR}\""}) {
    if (trim(line.substr(3)) == here) return true;
  }
  const auto words = plain_words(line);
  if (!words || words->size() != 2 || words->back().empty() || words->back().starts_with('-')) {
    return false;
  }
  command.folder = words->back();
  return true;
}

// One line of a script with one command; false if only a shell can follow it.
bool add_line(std::string_view line, ScriptCommand& command) {
  if (changes_folder(line, command)) return true;
  auto words = plain_words(line);
  if (!words) return false;
  if (words->empty() || words->front() == "set") return true;
  // After it, the script does something else.
  if (!command.words.empty()) return false;
  std::size_t at = words->front() == "export" ? 1 : 0;
  for (; at < words->size() && is_assignment((*words)[at]); ++at) {
    const std::string& word = (*words)[at];
    const std::size_t equals = word.find('=');
    command.env[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (at == words->size()) return true;
  if (words->front() == "export") return false;
  while (at < words->size() && ((*words)[at] == "exec" || (*words)[at] == "srun")) ++at;
  // An option of srun itself, another folder, or a builtin needs the script as it is.
  constexpr std::string_view kOfScripts[] = {"cd",    "module", "source", ".",    "ml",   "for",
                                             "while", "if",     "ulimit", "wait", "eval", "conda"};
  if (at == words->size() || (*words)[at].starts_with('-')) return false;
  if (std::ranges::find(kOfScripts, (*words)[at]) != std::ranges::end(kOfScripts)) return false;
  command.words.assign(words->begin() + static_cast<std::ptrdiff_t>(at), words->end());
  return true;
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

std::optional<ScriptCommand> only_command(std::string_view script, std::string* needs_shell) {
  ScriptCommand command;
  for (const std::string& line : joined_lines(script)) {
    const std::string_view text = trim(without_comment(line));
    if (only_prints(text)) continue;
    if (add_line(text, command)) continue;
    if (needs_shell) *needs_shell = text;
    return std::nullopt;
  }
  if (command.words.empty()) return std::nullopt;
  return command;
}

}  // namespace amdahl::code
