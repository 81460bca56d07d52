// settings.h: finds assignments of tuning variables in text that nobody vouches for.
#pragma once

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
  std::string sentence;  // The line it stands in, for people.
};

// Every NAME=value whose name is one of the variables we know to tune and nothing else, and whose
// value is concrete. Variables that load code, name files or print are never among them: the text
// comes from outside, and what it says is run.
std::vector<Setting> settings_in(std::string_view text);

}  // namespace amdahl::dream
