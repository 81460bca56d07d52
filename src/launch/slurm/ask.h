// ask.h: asks one of Slurm's client programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace amdahl::launch::slurm {

// What the program printed. Times are Unix seconds. Waits at most 75 s; no shell reads the words.
Result<std::string> ask(const std::vector<std::string>& words);

}  // namespace amdahl::launch::slurm
