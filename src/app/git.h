// git.h: runs git in a repository of somebody else.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/program.h"

namespace amdahl::app {

// Nothing of the repository's configuration is run, nothing is fetched.
os::Program git_in(const std::string& repository, const std::vector<std::string>& words);

// What it prints; the error has the end of its stderr.
Result<std::string> said_by(const os::Program& program);

}  // namespace amdahl::app
