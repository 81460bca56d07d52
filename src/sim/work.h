// work.h: runs independent units of work on threads, with cancellation.
#pragma once

#include <functional>
#include <vector>

namespace amdahl::sim {

struct Watch {
  int threads = 1;
  // Called with the finished share from time to time by the calling thread; false stops the work.
  std::function<bool(double)> going_on;
};

// Calls unit(0 .. count-1), each once, in any order and thread; returns which were done: all
// unless stopped. Units must not share mutable state.
std::vector<bool> for_all(int count, const Watch& watch, const std::function<void(int)>& unit);

}  // namespace amdahl::sim
