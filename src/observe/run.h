// run.h: one job from its start to the end of its last descendant.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/receipt.h"
#include "observe/bpf/waits.h"
#include "observe/cgroup.h"
#include "observe/child.h"
#include "observe/ending.h"
#include "observe/gpu_record.h"
#include "observe/guard.h"
#include "observe/signals.h"
#include "observe/supervisor.h"
#include "observe/tee.h"
#include "observe/tree.h"
#include "observe/watcher.h"
#include "os/clock.h"

namespace amdahl::observe {

class Run {
 public:
  Run(const RunOrder& order, os::Clock& clock, const std::function<void(const Live&)>& watch);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Runs to the end. The receipt lacks only what is read from files afterwards.
  Result<model::Receipt> go();
  // Valid after go().
  const Watcher* watcher() const { return watcher_ ? &*watcher_ : nullptr; }
  // Problems with files recorded next to the receipt.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  Result<> open_outputs(Launchable& job);
  Result<> follow();
  void await_something(Nanos now);
  void pass_on_signals(Nanos now);
  void tick(Nanos now);
  void enforce_limits(Nanos now);
  void begin_ending(model::Ending ending, std::string reason, int signal, Nanos now);
  void end_tree();
  void fill(model::Receipt& receipt, Nanos own_cpu);
  void end_waits();
  void end_gpus();

  const RunOrder& order_;
  os::Clock& clock_;
  const std::function<void(const Live&)>& watch_;
  int was_subreaper_ = 0;
  Guard guard_;  // Before tree_, which excludes existing children.
  SignalRelay signals_;
  Tree tree_;
  CgroupMeter cgroup_;
  Nvml nvml_;
  std::optional<Watcher> watcher_;
  std::optional<Reaper> reaper_;
  std::optional<Waits> waits_;
  std::optional<GpuRecord> gpu_record_;
  std::vector<std::string> problems_;
  std::optional<Tee> out_;
  std::optional<Tee> err_;
  os::Fd null_{-1};
  os::Fd pidfd_{-1};
  SamplingInterval pace_;
  Nanos start_{};  // Monotonic.
  Nanos own_cpu_start_{};
  Nanos next_tick_{};  // Relative to the start, as are the following.
  Nanos next_watch_{};
  std::optional<Nanos> kill_at_;
  std::optional<model::Ending> ending_;  // Set if we ended it.
  std::string reason_;
  Nanos wall_{};
  int left_behind_ = 0;
  int would_not_die_ = 0;
  // Processes survived the kill, the main one among them (uninterruptible wait).
  bool gave_up_ = false;
};

}  // namespace amdahl::observe
