// axis.h: which effects a picture shows, and where its marks stand.
#pragma once

#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

struct Tick {
  double effect = 0;
  double share = 0;  // A round one.
};

struct Axis {
  double low = 0;
  double high = 0;
  std::vector<Tick> ticks;  // In order of effect; one is 0.

  // 0 at the low end, 1 at the high end; beyond for what does not fit.
  double place(double effect) const { return (effect - low) / (high - low); }
};

// Room for 0, the last interval and all pairs but the far ones; with at most so many ticks.
Axis axis_for(const Account& account, int most_ticks);

}  // namespace amdahl::compare
