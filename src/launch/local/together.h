// together.h: runs several tasks at once, each in its own process.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"

namespace amdahl::launch::local {

struct Task {
  std::vector<int> cpus;      // CPUs for its process; empty: any.
  std::function<bool()> run;  // Runs in the child; true on success.
};

struct TaskResults {
  std::vector<bool> well;    // By task; false also if its process died.
  bool interrupted = false;  // SIGINT or SIGTERM was received.
};

// Returns when all tasks have ended. A supervisor waits for every child of its process, so two
// supervisors need two processes. Signals are forwarded to each task; tasks die with us. Only for a
// single-threaded process that is not a supervisor itself.
Result<TaskResults> run_together(const std::vector<Task>& tasks);

}  // namespace amdahl::launch::local
