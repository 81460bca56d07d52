// proc.h: what /proc says of a process and of the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::observe {

// One line of /proc/PID/stat, times in clock ticks.
struct ProcessStat {
  pid_t pid = 0;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::int64_t user_ticks = 0;
  std::int64_t system_ticks = 0;
  std::int64_t reaped_ticks = 0;  // User and system time of children it has waited for.
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;  // Since the boot.
  std::int64_t resident_pages = 0;
};

// A process, when it started, since a number may be another's later, and where it belongs.
struct ProcessIdentity {
  pid_t pid = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::int64_t start_ticks = 0;
  bool operator==(const ProcessIdentity&) const = default;
};

std::vector<std::string_view> words_in(std::string_view line);  // Between blanks; none is empty.

// Nothing if the line is cut short or is not one. The program's name may hold spaces and brackets.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

// Counters of the whole host at one moment. NaN where a file or a field is missing.
struct HostCounters {
  double busy_ticks = 0;  // All CPUs: user, nice, system and interrupts.
  double steal_ticks = 0;
  double total_ticks = 0;
  double runnable = 0;  // Tasks on a run queue, the one that reads this among them.
  double load1 = 0;
  double waited_us = 0;  // Time in which some task waited for a CPU (PSI).
};

HostCounters read_host(const std::string& proc_root = "/proc");

// Turns counters at the start, now and then, and at the end into what the receipt holds.
class NoiseMeter {
 public:
  explicit NoiseMeter(std::string proc_root = "/proc");
  void sample();
  // `ours` is the CPU time of the job and its observer over `wall`. Takes the last sample.
  model::HostNoise finish(Nanos ours, Nanos wall);

 private:
  std::string root_;
  HostCounters first_;
  HostCounters last_;
  double load_sum_ = 0;
  double runnable_sum_ = 0;
  int samples_ = 0;
};

}  // namespace amdahl::observe
