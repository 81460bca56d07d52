// collector.h: collects scheduling, blocking and I/O of a job's threads in the kernel (BPF).
#pragma once

#include <memory>
#include <set>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "model/bpf.h"
#include "os/clock.h"

namespace amdahl::observe {

struct CollectorOptions {
  std::string record;           // File for single waits and the summary; empty: none.
  bool count_syscalls = false;  // Costs every process on the host about 0.2 µs per call.
  std::int64_t most_record_bytes = std::int64_t{128} << 20;
  double events_per_second = 5000;  // Above this rate the shortest waits are only counted.
};

// Follows processes and their descendants across fork and exec until stopped. A thread reads the
// kernel's events. Memory is bounded; dropped data is counted. Several collectors may run at once.
// Format of the record: docs/format/bpf.md.
class BpfCollector {
 public:
  // kUnsupported, with the reason in one sentence, if the kernel or this build does not support
  // it.
  static Result<std::unique_ptr<BpfCollector>> start(const CollectorOptions& options,
                                                     os::Clock& clock);
  ~BpfCollector();
  BpfCollector(const BpfCollector&) = delete;
  BpfCollector& operator=(const BpfCollector&) = delete;

  // Follows every process that the calling thread forks from now on, from its first instruction.
  void follow_children();
  // Stops following newly forked processes.
  void ignore_children();
  // Follows running processes with their threads and descendants. kUnsupported inside a pid
  // namespace, where the kernel numbers them differently.
  Result<> follow(const std::set<pid_t>& processes);

  // Stops. Errors concern the record: disk full.
  Result<model::BpfSummary> stop();

 private:
  class Work;
  explicit BpfCollector(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace amdahl::observe
