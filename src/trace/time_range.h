// time_range.h: valid range of times in a file, so that sums and differences never overflow.
#pragma once

#include "base/units.h"

namespace amdahl::trace {

// About 30 years before the file's origin to the year 2103.
inline constexpr Nanos kEarliest = Nanos(-1'000'000'000'000'000'000);
inline constexpr Nanos kLatest = Nanos(4'200'000'000'000'000'000);
inline constexpr Nanos kLongest = Nanos(1'000'000'000'000'000'000);

}  // namespace amdahl::trace
