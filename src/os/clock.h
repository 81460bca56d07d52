// clock.h: time as a thing we are handed, so that a test can hand us another.
#pragma once

#include "base/units.h"

namespace amdahl::os {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanos monotonic() = 0;       // For durations. Never goes back.
  virtual Nanos unix_time() = 0;       // For records.
  virtual void sleep(Nanos time) = 0;  // May end early on a signal.
};

Clock& real_clock();

}  // namespace amdahl::os
