// waits.h: where a job's threads spend their time: by BPF, or by sampling /proc.
#pragma once

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "model/bpf.h"
#include "observe/bpf/collector.h"
#include "os/clock.h"

namespace amdahl::observe {

// Why BPF is not available here, in one sentence; empty if it is. Tries it: takes 0.1 to 0.3 s.
std::string why_no_bpf();

// Wraps the start of one job, used by the thread that starts it:
//   Waits waits(options, clock);
//   waits.before_start();  …fork and exec…  waits.started(pid);
//   …  waits.stop();
class Waits {
 public:
  Waits(const CollectorOptions& options, os::Clock& clock);
  ~Waits();
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  // Why BPF is not used, in one sentence; empty if it is.
  const std::string& why_not() const { return why_not_; }

  void before_start();
  void started(pid_t pid);
  // Call after the job's end. Errors concern the record: disk full.
  Result<model::BpfSummary> stop();

 private:
  class Sampling;
  os::Clock& clock_;
  CollectorOptions options_;
  std::string why_not_;
  std::unique_ptr<BpfCollector> bpf_;
  std::unique_ptr<Sampling> sampling_;
};

}  // namespace amdahl::observe
