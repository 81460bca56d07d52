// usual_lags.h: typical latencies of a device, measured from a trace.
#pragma once

#include "profile/gaps.h"
#include "profile/stream_order.h"

namespace amdahl::profile {

// Used if a trace shows none of its own.
inline constexpr Nanos kUsualLaunch{5'000};
inline constexpr Nanos kUsualQueue{1'000};

// From a launch to the start on an empty stream; from one event to the next on a full stream; and
// from the end of what a stream was told to wait for.
struct Usual {
  Nanos launch = kUsualLaunch;
  Nanos queue = kUsualQueue;
  Nanos stream_wait = kUsualQueue;
};

// Medians over cases in which nothing else can have delayed the event.
Usual usual_lags(const Prepared& prepared, const StreamOrder& order);

}  // namespace amdahl::profile
