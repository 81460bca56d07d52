// work.h: a piece of work and what it had to wait for; long traces have millions of both.
#pragma once

#include <cstdint>

#include "model/trace.h"
#include "profile/why.h"

namespace amdahl::profile {

// How a piece of work depends on another.
enum class NeedKind : std::uint8_t {
  kOrder,       // The same thread or stream.
  kLaunch,      // A device event on the call that launched it.
  kWait,        // A host thread on the device event that its call waited for.
  kHandOver,    // A host thread on another of its process.
  kStreamWait,  // A device event on one of another stream, as the profiler recorded.
  kRelease,     // The same, inferred: it began when that ended, or when that left room.
  kCollective,  // A rank on the last one to come.
  kBacklog,     // Of a device event, where the device was at something that is not recorded.
  kRoom,        // A launch on the device event after whose end the full queue had room for it.
};

struct Need {
  std::uint32_t work = 0;  // Always before the one that needs it.
  NeedKind kind = NeedKind::kOrder;
  Nanos lag{};  // From the end of that work; never negative.
};

enum class WorkRole : std::uint8_t {
  kHost,
  kPlain,     // A device event.
  kArrival,   // Of one that ranks do together: a rank comes to it,
  kHub,       // all have come, which is of no lane,
  kTransfer,  // and the rest of it.
};

// Something done without waiting. Waiting is no work: it is the time between works of a lane.
struct Work {
  Nanos from{};
  Nanos to{};
  std::uint32_t event = model::kNone;  // Of device_events or host_events.
  std::uint32_t lane = model::kNone;   // Of streams or threads.
  // Of WorkGraph::needs. Until they are found, where the work tells what they are (host_work.h).
  std::uint32_t first_need = model::kNone;
  std::uint16_t needs = 0;
  Why why = Why::kHost;
  WorkRole role = WorkRole::kHost;

  bool on_device() const { return role != WorkRole::kHost; }
};

static_assert(sizeof(Need) == 16 && sizeof(Work) == 32);

}  // namespace amdahl::profile
