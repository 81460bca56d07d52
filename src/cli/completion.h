// completion.h: shell completion, generated from the tables of verbs and options.
#pragma once

#include <string>

#include "base/result.h"

namespace amdahl::cli {

Result<std::string> completion_for(const std::string& shell);  // bash, zsh or fish.

}  // namespace amdahl::cli
