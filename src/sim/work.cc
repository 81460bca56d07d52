#include "sim/work.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace amdahl::sim {

std::vector<bool> for_all(int count, const Watch& watch, const std::function<void(int)>& unit) {
  std::atomic<int> next{0};
  std::atomic<int> finished{0};
  std::atomic<bool> stop{false};
  std::vector<char> done(static_cast<std::size_t>(count), 0);
  const auto take = [&]() -> bool {
    const int mine = stop ? count : next++;
    if (mine >= count) return false;
    unit(mine);
    done[static_cast<std::size_t>(mine)] = 1;
    ++finished;
    return true;
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < std::min(watch.threads, count); ++i) {
      helpers.emplace_back([&] {
        while (take()) {
        }
      });
    }
    while (take()) {
      const double share = static_cast<double>(finished) / count;
      if (watch.going_on && !watch.going_on(share)) stop = true;
    }
  }
  return {done.begin(), done.end()};
}

}  // namespace amdahl::sim
