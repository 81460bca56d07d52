// program.h: runs a program to its end and passes its output on as it is printed.
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
  std::map<std::string, std::string> env{};  // Added to our environment.
  std::vector<std::string> without{};        // Inherited variables with these prefixes are removed.
  std::string input = "/dev/null";           // File for standard input.
  std::string input_text{};                  // In its place, if not empty.
  Nanos limit = std::chrono::minutes(10);
};

// `out` receives standard output in chunks. The program is stopped by an error of `out`, by
// `stop`, or at `limit`. kUnsupported if there is no such program; kExternal with the end of its
// stderr if it fails.
Result<> run_program(const Program& program,
                     const std::function<Result<>(std::string_view bytes)>& out,
                     const std::function<bool()>& stop);

}  // namespace amdahl::os
