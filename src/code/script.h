// script.h: which lines of a shell script start a program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::code {

// Whether it is a shell script, by its name or first line.
bool is_script(std::string_view path, std::string_view bytes);

// The 1-based lines that name the program, with or without a path. Comments, variables and
// assignments do not count. 15 characters of a longer name are enough (the kernel truncates
// names).
std::vector<int> lines_naming(std::string_view script, std::string_view program);

// The program that a script starts, with the variables that the script sets for it and the folder
// that it changes to ("" if it does not).
struct ScriptCommand {
  std::map<std::string, std::string> env;
  std::vector<std::string> words;
  std::string folder;
};

// Of a script that starts one program and does nothing else that matters: it may set options and
// variables, change to a folder before, print what nothing reads, and start the program by `exec`
// or by a plain `srun`. Nothing if the shell would have to expand, redirect, repeat or combine
// anything; `needs_shell` is then the first line that says so, "" if there is none.
std::optional<ScriptCommand> only_command(std::string_view script,
                                          std::string* needs_shell = nullptr);

}  // namespace amdahl::code
