// options.h: reads a Python program's command-line options from its source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::code {

struct ProgramOption {
  std::vector<std::string> names;       // As typed: "--batch-size", "-b".
  std::optional<std::string> fallback;  // Default, if it is a literal other than None.
  std::vector<std::string> choices;     // Allowed values; empty: unknown.
  bool is_switch = false;               // Takes no value.
  int line = 0;

  friend bool operator==(const ProgramOption&, const ProgramOption&) = default;
};

// Options of argparse's add_argument, click's option and absl's DEFINE_*, in source order, without
// positional arguments. Same errors as parse() (code/tree.h).
Result<std::vector<ProgramOption>> options_of(std::string_view python);

// Whether the program trains: it calls backward() or an optimiser's step().
bool trains(std::string_view python);

}  // namespace amdahl::code
