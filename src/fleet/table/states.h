// states.h: how jobs ended, in the words of schedulers.
#pragma once

#include <string_view>

#include "model/fleet.h"

namespace amdahl::fleet::table {

// "Succeeded", "completed", "CANCELLED by 0", "OOMKilled"; kOther if the word is not known.
model::JobState state_of_word(std::string_view word);

}  // namespace amdahl::fleet::table
