#include "app/git.h"

namespace amdahl::app {

os::Program git_in(const std::string& repository, const std::vector<std::string>& words) {
  os::Program program;
  program.argv = {"git", "-c",      "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
                  "-C",  repository};
  program.argv.insert(program.argv.end(), words.begin(), words.end());
  program.env = {{"GIT_NO_LAZY_FETCH", "1"},
                 {"GIT_ALLOW_PROTOCOL", "none"},  // Older versions fetch nevertheless.
                 {"GIT_PAGER", "cat"},
                 {"GIT_TERMINAL_PROMPT", "0"}};
  return program;
}

Result<std::string> said_by(const os::Program& program) {
  std::string text;
  TRY(os::run_program(
      program,
      [&](std::string_view bytes) -> Result<> {
        text += bytes;
        return Ok{};
      },
      [] { return false; }));
  return text;
}

}  // namespace amdahl::app
