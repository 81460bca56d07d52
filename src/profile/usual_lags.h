// usual_lags.h: how long a device usually takes to begin what it could begin, as a trace shows it.
#pragma once

#include "profile/gaps.h"
#include "profile/stream_order.h"

namespace amdahl::profile {

// Used where a trace shows none of its own.
inline constexpr Nanos kUsualLaunch{5'000};
inline constexpr Nanos kUsualQueue{1'000};

// From a launch to the start on an empty stream, from one event of a full one to the next, and from
// the end of what a stream was told to wait for.
struct Usual {
  Nanos launch = kUsualLaunch;
  Nanos queue = kUsualQueue;
  Nanos stream_wait = kUsualQueue;
};

// Medians, each of where nothing else can have held the event up.
Usual usual_lags(const Prepared& prepared, const StreamOrder& order);

}  // namespace amdahl::profile
