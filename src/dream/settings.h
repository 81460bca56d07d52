// settings.h: finds assignments of tuning variables in text that nobody vouches for.
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
  model::Bottleneck against = model::Bottleneck::kUnknown;  // What such a variable works on.
  model::Bottleneck also_against = model::Bottleneck::kUnknown;
  std::size_t at = 0;  // Where its name starts in the text.
};

// Every NAME=value whose name is one of the variables we know to tune and nothing else, and whose
// value is concrete. Variables that load code, name files or print are never among them: the text
// comes from outside, and what it says is run.
std::vector<Setting> settings_in(std::string_view text);

// Whether the variable is one of those: then it means the same in every job.
bool only_tunes(std::string_view variable);

// The beginnings of their names, folded: for a search.
std::vector<std::string> names_of_tuners();

}  // namespace amdahl::dream
