// proc_sampler.h: what the threads of a job wait for, from looks at /proc, where BPF is refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "model/bpf.h"

namespace amdahl::observe {

// CPU time and the wait for a CPU are the kernel's own and exact; what a blocked thread waits for
// is what it was found in. Who wakes whom, single waits and stacks cannot be had. Not thread-safe.
class ProcSampler {
 public:
  explicit ProcSampler(std::string proc_root = "/proc") : proc_root_{std::move(proc_root)} {}

  // The processes and their descendants, from the next look on.
  void follow(pid_t process) { roots_.push_back(process); }

  // Looks once; `now` is since the start.
  void look(Nanos now);

  std::vector<model::TaskWaits> finish() const;

 private:
  struct Task {
    model::TaskWaits seen;
    Nanos cpu_before{};  // From before our time.
    Nanos delay_before{};
    std::array<std::int64_t, model::kWaits> found{};  // Blocked, how often in what.
  };

  void look_at_process(pid_t process, Nanos now, int depth);
  void look_at_task(pid_t process, pid_t tid, Nanos now);

  std::string proc_root_;
  std::vector<pid_t> roots_;
  std::map<pid_t, Task> tasks_;
};

}  // namespace amdahl::observe
