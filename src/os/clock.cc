#include "os/clock.h"

#include <ctime>

namespace amdahl::os {
namespace {

Nanos read_clock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return std::chrono::seconds(now.tv_sec) + Nanos(now.tv_nsec);
}

class RealClock final : public Clock {
 public:
  Nanos monotonic() override { return read_clock(CLOCK_MONOTONIC); }
  Nanos unix_time() override { return read_clock(CLOCK_REALTIME); }
  void sleep(Nanos time) override {
    if (time <= Nanos{0}) return;
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec wanted{whole.count(), (time - whole).count()};
    nanosleep(&wanted, nullptr);
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace amdahl::os
