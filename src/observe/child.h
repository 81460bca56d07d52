// child.h: prepares a plan for execve and starts it in its own process group.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "observe/supervisor.h"

namespace amdahl::observe {

// Everything the child needs, allocated before the fork: nothing may be allocated after it.
struct Launchable {
  std::string program;  // File found on the job's PATH; empty if not found.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string workdir;
  std::vector<int> cpus;
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

// Replaces "{out}" and "{state}" by the order's folders and "{env:NAME}" by this process's
// variable; an unset one is left as is.
std::string fill_in(std::string text, const RunOrder& order);

// Values of the variables that the plan refers to as "{env:NAME}": secrets, never shown.
std::vector<std::string> secrets_of(const model::Plan& plan);

// The order's command and environment. Writes changed copies of configuration files, and the hook
// if wanted, to the out folder. The caller sets the descriptors.
Result<Launchable> prepare(const RunOrder& order);

struct Started {
  pid_t pid = -1;      // -1: exec failed.
  std::string reason;  // "no such program: foo".
};

// Returns when the program runs or could not be started. The child has default signal handlers,
// except for signals that were ignored when we started.
Result<Started> start(const Launchable& job);

}  // namespace amdahl::observe
