// timeline.h: how busy something was, from uneven segments into even intervals.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.h"

namespace amdahl::observe {

struct BusySegment {
  Nanos from{};
  Nanos to{};
  double busy = 0;
};

// Grows with the run but not without end: when it is full, neighbours are merged.
class Timeline {
 public:
  // In order, not overlapping.
  void add(BusySegment segment);
  std::span<const BusySegment> segments() const { return segments_; }

 private:
  std::vector<BusySegment> segments_;
};

// `at_least`, or its double, or double that, so that `wall` has at most 2,000 intervals.
Nanos interval_for(Nanos wall, Nanos at_least);

// The mean of what covers each interval, NaN where nothing does.
std::vector<float> on_grid(std::span<const BusySegment> segments, Nanos interval, Nanos wall);

}  // namespace amdahl::observe
