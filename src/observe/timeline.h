// timeline.h: converts busy segments of any length into equal intervals.
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

// Bounded: when full, neighbouring segments are merged.
class Timeline {
 public:
  // Segments must be in order and must not overlap.
  void add(BusySegment segment);
  std::span<const BusySegment> segments() const { return segments_; }

 private:
  std::vector<BusySegment> segments_;
};

// `at_least`, doubled until `wall` has at most 2,000 intervals.
Nanos interval_for(Nanos wall, Nanos at_least);

// The mean over each interval, NaN where nothing covers it.
std::vector<float> on_grid(std::span<const BusySegment> segments, Nanos interval, Nanos wall);

}  // namespace amdahl::observe
