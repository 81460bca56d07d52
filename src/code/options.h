// options.h: the options that a Python program's own parser takes, read from its source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::code {

struct ProgramOption {
  std::vector<std::string> names;       // As they are typed: "--batch-size", "-b".
  std::optional<std::string> fallback;  // The default, if it is a literal other than None.
  std::vector<std::string> choices;     // The only values it takes; empty: not said.
  bool is_switch = false;               // It takes no value.
  int line = 0;

  friend bool operator==(const ProgramOption&, const ProgramOption&) = default;
};

// Of argparse's add_argument, click's option and absl's DEFINE_*, in the order of the source.
// Positional arguments are none. Fails as parse() does (code/tree.h).
Result<std::vector<ProgramOption>> options_of(std::string_view python);

// Whether the program trains: it calls backward or an optimiser's step.
bool trains(std::string_view python);

}  // namespace amdahl::code
