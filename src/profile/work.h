// work.h: a unit of work and its dependencies; long traces have millions of both.
#pragma once

#include <cstdint>

#include "model/trace.h"
#include "profile/why.h"

namespace amdahl::profile {

// How one unit of work depends on another.
enum class NeedKind : std::uint8_t {
  kOrder,       // Same thread or stream.
  kLaunch,      // Device event on the call that launched it.
  kWait,        // Host thread on the device event that its call waited for.
  kHandOver,    // Host thread on another thread of its process.
  kStreamWait,  // Device event on one of another stream, as recorded.
  kRelease,     // The same, inferred: it started when the other ended or made room.
  kCollective,  // A rank on the last one to arrive.
  kBacklog,     // Device event that waited for unrecorded work of the device.
  kRoom,        // Launch on the device event whose end made room in the full queue.
};

struct Need {
  std::uint32_t work = 0;  // Index; always before the work that needs it.
  NeedKind kind = NeedKind::kOrder;
  Nanos lag{};  // From the end of that work; never negative.
};

enum class WorkRole : std::uint8_t {
  kHost,
  kPlain,     // A device event.
  kArrival,   // Collective: one rank arrives,
  kHub,       // all have arrived (belongs to no lane),
  kTransfer,  // and its transfer.
};

// Work without waiting. Waiting is the time between works of a lane.
struct Work {
  Nanos from{};
  Nanos to{};
  std::uint32_t event = model::kNone;  // Index into device_events or host_events.
  std::uint32_t lane = model::kNone;   // Index into streams or threads.
  // Index into WorkGraph::needs. Before these are known: see host_work.h.
  std::uint32_t first_need = model::kNone;
  std::uint16_t needs = 0;
  Why why = Why::kHost;
  WorkRole role = WorkRole::kHost;

  bool on_device() const { return role != WorkRole::kHost; }
};

static_assert(sizeof(Need) == 16 && sizeof(Work) == 32);

}  // namespace amdahl::profile
