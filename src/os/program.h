// program.h: runs a program to its end and hands on what it prints while it prints it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::os {

struct Program {
  std::vector<std::string> argv{};
  std::map<std::string, std::string> env{};  // On top of ours,
  std::vector<std::string> without{};        // of which those with these prefixes are left out.
  std::string input = "/dev/null";           // The file that it reads as standard input.
  Nanos limit = std::chrono::minutes(10);
};

// `out` gets its standard output in pieces; an error of it, `stop` and the limit end the program.
// kUnsupported if there is no such program; kExternal with the end of what it printed to standard
// error if it fails.
Result<> run_program(const Program& program,
                     const std::function<Result<>(std::string_view bytes)>& out,
                     const std::function<bool()>& stop);

}  // namespace amdahl::os
