// axis.h: the axis range and ticks of a comparison's picture.
#pragma once

#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

struct Tick {
  double effect = 0;
  double share = 0;  // A round number.
};

struct Axis {
  double low = 0;
  double high = 0;
  std::vector<Tick> ticks;  // Ascending; includes 0.

  // 0 at the low end, 1 at the high end; outside for what does not fit.
  double place(double effect) const { return (effect - low) / (high - low); }
};

// Covers 0, the last interval and all pairs except outliers; at most this many ticks.
Axis axis_for(const Account& account, int most_ticks);

}  // namespace amdahl::compare
