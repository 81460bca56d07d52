// fake_clock.h: a clock that stands still until it is told to move or asked to sleep.
#pragma once

#include "os/clock.h"

namespace amdahl::os {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(Nanos unix_start = std::chrono::seconds(1'700'000'000))
      : unix_start_{unix_start} {}

  Nanos monotonic() override { return passed_; }
  Nanos unix_time() override { return unix_start_ + passed_; }
  void sleep(Nanos time) override { advance(time); }
  void advance(Nanos time) {
    if (time > Nanos{0}) passed_ += time;
  }

 private:
  Nanos unix_start_;
  Nanos passed_{};
};

}  // namespace amdahl::os
