// together.h: several things at once, each in a process of its own.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"

namespace amdahl::launch::local {

struct Task {
  std::vector<int> cpus;      // Where its process may run; empty: anywhere.
  std::function<bool()> run;  // Whether it went well. Runs in the child.
};

struct Together {
  std::vector<bool> well;    // By task; false also if its process died.
  bool interrupted = false;  // SIGINT or SIGTERM came.
};

// Until all are over. A supervisor waits for every child of its process, so two of them need two
// processes. The signals that a supervisor passes on are sent to each task; if we die, they do.
// Only for a process of one thread that is not supervising itself.
Result<Together> run_together(const std::vector<Task>& tasks);

}  // namespace amdahl::launch::local
