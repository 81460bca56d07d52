// thread_waits.h: what the scheduler and samplers saw of a trace's threads, summed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

// A thread's waits for one reason.
struct WaitRow {
  std::string thread;  // "pt_data_worker (4711)".
  std::string state;   // "blocked", or "runnable": ready, and no CPU was free.
  std::string reason;  // "futex"; empty for runnable.
  Nanos total{};
  std::uint64_t count = 0;
  Nanos longest{};
  std::string where;  // The innermost frame of the stack that waited longest, if it is known.
};

// Longest first, at most so many. Where there are more, as in a record of a whole host, threads
// that did nothing but wait for one thing come last.
std::vector<WaitRow> thread_waits(const model::Trace& trace, std::size_t most);

// A function that samples were taken in, with its share of one event's weight.
struct HotRow {
  std::string event;     // "cpu-clock".
  std::string function;  // Innermost.
  double share = 0;
};
std::vector<HotRow> hot_functions(const model::Trace& trace, std::size_t most);

}  // namespace amdahl::profile
