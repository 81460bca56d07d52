// thread_waits.h: totals of a trace's thread states and stack samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

// A thread's waits for one reason.
struct WaitRow {
  std::string thread;  // "pt_data_worker (4711)".
  std::string state;   // "blocked", or "runnable": ready, but no CPU was free.
  std::string reason;  // "futex"; empty for runnable.
  Nanos total{};
  std::uint64_t count = 0;
  Nanos longest{};
  std::string where;  // Innermost frame of the stack that waited longest, if known.
};

// Longest first, limited. If there are more, as in a record of a whole host, threads that only
// waited for one thing come last.
std::vector<WaitRow> thread_waits(const model::Trace& trace, std::size_t most);

// A sampled function with its share of one event's weight.
struct HotRow {
  std::string event;     // "cpu-clock".
  std::string function;  // Innermost.
  double share = 0;
};
std::vector<HotRow> hot_functions(const model::Trace& trace, std::size_t most);

}  // namespace amdahl::profile
