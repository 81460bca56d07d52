// clock.h: an injected clock, so that tests can replace time.
#pragma once

#include "base/units.h"

namespace amdahl::os {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanos monotonic() = 0;       // For durations. Never decreases.
  virtual Nanos unix_time() = 0;       // For timestamps.
  virtual void sleep(Nanos time) = 0;  // May return early on a signal.
};

Clock& real_clock();

}  // namespace amdahl::os
