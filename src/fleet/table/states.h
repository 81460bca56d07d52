// states.h: job states in the words of various schedulers.
#pragma once

#include <string_view>

#include "model/fleet.h"

namespace amdahl::fleet::table {

// "Succeeded", "completed", "CANCELLED by 0", "OOMKilled"; kOther if unknown.
model::JobState state_of_word(std::string_view word);

}  // namespace amdahl::fleet::table
