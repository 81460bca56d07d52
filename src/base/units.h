// units.h: quantities with units that the compiler keeps apart.
#pragma once

#include <chrono>
#include <compare>

namespace amdahl {

using Nanos = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;  // For arithmetic and printing, never for storage.

constexpr double to_seconds(Nanos time) { return Seconds(time).count(); }
constexpr Nanos from_seconds(double seconds) {
  return std::chrono::duration_cast<Nanos>(Seconds{seconds});
}

// A double with a unit. Same units add, compare and divide; every other conversion is a function
// below.
template <class Unit>
class Amount {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(double count) : count_{count} {}
  constexpr double count() const { return count_; }

  friend constexpr Amount operator+(Amount a, Amount b) { return Amount{a.count_ + b.count_}; }
  friend constexpr Amount operator-(Amount a, Amount b) { return Amount{a.count_ - b.count_}; }
  friend constexpr Amount operator*(Amount a, double k) { return Amount{a.count_ * k}; }
  friend constexpr double operator/(Amount a, Amount b) { return a.count_ / b.count_; }
  friend constexpr auto operator<=>(Amount, Amount) = default;
  constexpr Amount& operator+=(Amount b) {
    count_ += b.count_;
    return *this;
  }

 private:
  double count_ = 0;
};

using Accelerators = Amount<struct AcceleratorsUnit>;
using AcceleratorSeconds = Amount<struct AcceleratorSecondsUnit>;
using AcceleratorHours = Amount<struct AcceleratorHoursUnit>;
using Usd = Amount<struct UsdUnit>;
using UsdPerAcceleratorHour = Amount<struct UsdPerAcceleratorHourUnit>;

constexpr AcceleratorSeconds operator*(Accelerators accelerators, Nanos wall) {
  return AcceleratorSeconds{accelerators.count() * to_seconds(wall)};
}

constexpr AcceleratorHours to_hours(AcceleratorSeconds time) {
  return AcceleratorHours{time.count() / 3600};
}

constexpr Usd operator*(AcceleratorHours hours, UsdPerAcceleratorHour price) {
  return Usd{hours.count() * price.count()};
}

}  // namespace amdahl
