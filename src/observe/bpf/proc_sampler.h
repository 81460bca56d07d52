// proc_sampler.h: samples what a job's threads wait for from /proc, where BPF is not permitted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "model/bpf.h"

namespace amdahl::observe {

// CPU time and run-queue delay are exact (kernel counters). What a blocked thread waits for is
// sampled. Wakers, single waits and stacks are not available. Not thread-safe.
class ProcSampler {
 public:
  explicit ProcSampler(std::string proc_root = "/proc") : proc_root_{std::move(proc_root)} {}

  // Follows the process and its descendants from the next sample on.
  void follow(pid_t process) { roots_.push_back(process); }

  // Takes one sample; `now` is relative to the start.
  void look(Nanos now);

  std::vector<model::TaskWaits> finish() const;

 private:
  struct Task {
    model::TaskWaits seen;
    Nanos cpu_before{};  // CPU time from before we followed it.
    Nanos delay_before{};
    std::array<std::int64_t, model::kWaits> found{};  // Samples in which it was blocked, by reason.
  };

  void look_at_process(pid_t process, Nanos now, int depth);
  void look_at_task(pid_t process, pid_t tid, Nanos now);

  std::string proc_root_;
  std::vector<pid_t> roots_;
  std::map<pid_t, Task> tasks_;
};

}  // namespace amdahl::observe
