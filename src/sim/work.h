// work.h: independent units of work over threads, with a say in going on.
#pragma once

#include <functional>
#include <vector>

namespace amdahl::sim {

struct Watch {
  int threads = 1;
  // Told the share that is done, now and then, by the calling thread; false stops the work.
  std::function<bool(double)> going_on;
};

// Calls unit(0 .. count-1), each once, in any order and on any thread; which of them were done is
// returned: all, unless it was stopped. Units must not share what they change.
std::vector<bool> for_all(int count, const Watch& watch, const std::function<void(int)>& unit);

}  // namespace amdahl::sim
