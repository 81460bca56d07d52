// tidy.h: the rules of STYLE.md that a machine can check. Text in, faults out; does no I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl::tidy {

struct Fault {
  int line = 0;  // From 1; 0 if it is about the whole file.
  std::string text;

  friend bool operator==(const Fault&, const Fault&) = default;
};

// `text` with what is inside comments and literals made blank, line for line: what is left is code.
std::string code_of(std::string_view text);

// UTF-8 code points, which is what a terminal shows as columns in the scripts we write.
int columns(std::string_view line);

struct Function {
  int line = 0;   // Where its head starts.
  int lines = 0;  // From there to the closing brace.
};

// Functions at namespace and class level, by counting braces. Macros that hide braces fool it.
std::vector<Function> functions(std::string_view text);

// All faults of one C++ file. `path` is from the repository's root: "src/stats/welch.cc".
std::vector<Fault> faults_of_source(std::string_view path, std::string_view text);

// What a file defines in unnamed namespaces: "ns::kMost", "ns::Row", "ns::count_of(int,Row&)".
// Files of a room are compiled several as one, where two of the same name clash.
std::vector<std::string> unnamed_in(std::string_view text);

// A word in a page that must name something which exists.
struct Mention {
  int line = 0;
  std::string text;
};

// Paths of this repository that a page names in backticks, and "./script/..." anywhere. Patterns
// and placeholders ("tests/golden/<case>/", "src/*") are left out.
std::vector<Mention> paths_in(std::string_view page);

// Targets of [text](target) within the repository, without their "#part".
std::vector<Mention> links_in(std::string_view page);

// `room::name` in backticks, for the rooms given.
std::vector<Mention> symbols_in(std::string_view page, const std::vector<std::string>& rooms);

}  // namespace amdahl::tidy
