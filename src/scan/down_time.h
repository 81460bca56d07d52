// down_time.h: how long accelerators were down: each moment once, whoever told of it.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/units.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

class DownTime {
 public:
  // So many accelerators of a host were down; 0: all. Of several that tell of one moment the most
  // counts.
  void add(WordId host, Nanos from, Nanos to, double accelerators);
  // A job had so many of them: what works is not down (a node that drains).
  void hold(WordId host, Nanos from, Nanos to, double accelerators);

  bool empty() const { return hosts_.empty(); }
  bool has(WordId host) const { return hosts_.contains(host); }
  std::vector<WordId> down_as_a_whole() const;  // Of whom it was not told how many.

  // Accelerator-seconds by host within the window. `capacity`: how many a host has; 0: not known.
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
