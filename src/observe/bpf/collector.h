// collector.h: what the kernel sees of a job's threads, collected while the job runs.
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
  bool count_syscalls = false;  // Costs every process of the host about 0.2 µs a call.
  std::int64_t most_record_bytes = std::int64_t{128} << 20;
  double events_per_second = 5000;  // Above it the shortest waits are only counted.
};

// Follows processes and all that they start, across fork and exec, until it is stopped. A thread
// of its own reads what the kernel hands over; memory is bounded, and what finds no room is
// counted. Several may run at once. docs/format/bpf.md is the record's format.
class BpfCollector {
 public:
  // kUnsupported, in one sentence, where the kernel or this build does not allow it.
  static Result<std::unique_ptr<BpfCollector>> start(const CollectorOptions& options,
                                                     os::Clock& clock);
  ~BpfCollector();
  BpfCollector(const BpfCollector&) = delete;
  BpfCollector& operator=(const BpfCollector&) = delete;

  // Every process that the calling thread forks from now on, from its first instruction.
  void follow_children();
  // No more of them.
  void ignore_children();
  // Processes that live already, with their threads and descendants. kUnsupported in a pid
  // namespace of its own, where the kernel knows them by other numbers.
  Result<> follow(const std::set<pid_t>& processes);

  // Ends it. Errors are of the record: a full disk.
  Result<model::BpfSummary> stop();

 private:
  class Work;
  explicit BpfCollector(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace amdahl::observe
