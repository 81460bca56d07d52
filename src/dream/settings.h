// settings.h: finds assignments of tuning variables in untrusted text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace amdahl::dream {

struct Setting {
  std::string variable;
  std::string value;
  model::Bottleneck against = model::Bottleneck::kUnknown;  // What the variable addresses.
  model::Bottleneck also_against = model::Bottleneck::kUnknown;
  std::size_t at = 0;  // Offset of its name in the text.
};

// Every NAME=value with a concrete value whose variable is known to only tune. Never variables
// that load code, name files or print: the text is untrusted, and its settings are run.
std::vector<Setting> settings_in(std::string_view text);

// Whether the variable is one of those: then it means the same in every job.
bool only_tunes(std::string_view variable);

// Folded prefixes of their names: for a search.
std::vector<std::string> names_of_tuners();

}  // namespace amdahl::dream
