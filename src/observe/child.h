// child.h: a plan made ready for execve, and the start of it in a process group of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "observe/supervisor.h"

namespace amdahl::observe {

// Everything the child needs, made before the fork: after it nothing may be allocated.
struct Launchable {
  std::string program;  // The file found on the job's PATH; empty if there is none.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string workdir;
  std::vector<int> cpus;
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

// "{out}" and "{state}" replaced by the order's folders, and "{env:NAME}" by the variable that this
// process has; it stays where there is none.
std::string fill_in(std::string text, const RunOrder& order);

// The values of the variables that the plan refers to as "{env:NAME}": secrets, not to be shown.
std::vector<std::string> secrets_of(const model::Plan& plan);

// The order's command and environment; changed copies of configuration files are written to the
// out folder, and the hook too if it is wanted. The descriptors are left to the caller.
Result<Launchable> prepare(const RunOrder& order);

struct Started {
  pid_t pid = -1;      // -1: it could not be executed.
  std::string reason;  // "no such program: foo".
};

// Returns once the program runs or could not be started. Signals have their default meaning in
// the child, except those that we were started with ignored.
Result<Started> start(const Launchable& job);

}  // namespace amdahl::observe
