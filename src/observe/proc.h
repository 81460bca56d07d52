// proc.h: reads processes and host counters from /proc.
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
  std::int64_t reaped_ticks = 0;  // User and system time of children that were waited for.
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;  // Since boot.
  std::int64_t resident_pages = 0;
};

// A process with its start time (pids are reused), group and session.
struct ProcessIdentity {
  pid_t pid = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::int64_t start_ticks = 0;
  bool operator==(const ProcessIdentity&) const = default;
};

std::vector<std::string_view> words_in(std::string_view line);  // Split at blanks; no empty words.

// Nothing if the line is truncated or malformed. The program name may contain spaces and brackets.
std::optional<ProcessStat> parse_process_stat(std::string_view line);

// CPU time of the process and of children that it waited for; of a living process in nanoseconds,
// if `exact`.
Nanos cpu_time(const ProcessStat& stat, bool exact = true);

// Counters of the whole host at one moment. NaN: missing.
struct HostCounters {
  double busy_ticks = 0;  // All CPUs: user, nice, system and interrupts.
  double steal_ticks = 0;
  double total_ticks = 0;
  double runnable = 0;  // Tasks on a run queue, including the reader.
  double load1 = 0;
  double waited_us = 0;  // Time in which some task waited for a CPU (PSI).
};

HostCounters read_host(const std::string& proc_root = "/proc");

// Turns counters sampled during the run into the receipt's HostNoise.
class NoiseMeter {
 public:
  explicit NoiseMeter(std::string proc_root = "/proc");
  void sample();
  // `ours` is the CPU time of job and observer over `wall`. Takes the last sample.
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
