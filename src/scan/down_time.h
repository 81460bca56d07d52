// down_time.h: how long accelerators were down; overlapping reports count once.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/units.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

class DownTime {
 public:
  // This many accelerators of a host were down; 0: all. Where reports overlap, the largest counts.
  void add(WordId host, Nanos from, Nanos to, double accelerators);
  // A job held this many: accelerators in use are not down (a draining node).
  void hold(WordId host, Nanos from, Nanos to, double accelerators);

  bool empty() const { return hosts_.empty(); }
  bool has(WordId host) const { return hosts_.contains(host); }
  std::vector<WordId> down_as_a_whole() const;  // Reported without a number of accelerators.

  // Accelerator-seconds by host within the window. `capacity`: accelerators of a host; 0: unknown.
  std::map<WordId, double> seconds(const Window& window,
                                   const std::function<double(WordId)>& capacity) const;

 private:
  struct Span {
    Nanos from{};
    Nanos to{};
    double accelerators = 0;
  };
  struct Host {
    std::vector<Span> down;
    std::vector<Span> held;
  };
  static double seconds(const Host& host, const Window& window, double capacity);

  std::map<WordId, Host> hosts_;
};

}  // namespace amdahl::scan
