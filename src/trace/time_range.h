// time_range.h: what times of a file may be, so that sums and differences of any of them fit.
#pragma once

#include "base/units.h"

namespace amdahl::trace {

// Some 30 years before the file's origin to the year 2103.
inline constexpr Nanos kEarliest = Nanos(-1'000'000'000'000'000'000);
inline constexpr Nanos kLatest = Nanos(4'200'000'000'000'000'000);
inline constexpr Nanos kLongest = Nanos(1'000'000'000'000'000'000);

}  // namespace amdahl::trace
