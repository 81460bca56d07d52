// timed_run.h: runs a program once and takes its wall and CPU time, its children's included.
#pragma once

#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "os/clock.h"

namespace amdahl {

struct TimedRun {
  double wall_s = 0;  // From fork to exit.
  double cpu_s = 0;
  bool succeeded = false;
};

// The program is looked up on PATH; what it prints goes to `output`.
inline TimedRun timed_run(const std::vector<std::string>& argv,
                          const std::string& output = "/dev/null") {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const Nanos start = os::real_clock().monotonic();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  const bool ended = pid > 0 && ::wait4(pid, &status, 0, &used) == pid;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {to_seconds(os::real_clock().monotonic() - start),
          seconds(used.ru_utime) + seconds(used.ru_stime), ended && status == 0};
}

}  // namespace amdahl
