// work_graph.h: a trace as pieces of work and what each had to wait for, to replay and to walk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"
#include "profile/gaps.h"

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
  kBacklog,     // As kLaunch, where the device was at something that is not recorded.
  kRoom,        // A launch on the device event after whose end the full queue had room for it.
};

struct Need {
  std::uint32_t work = 0;  // Always before the one that needs it.
  NeedKind kind = NeedKind::kOrder;
  Nanos lag{};  // From the end of that work; never negative.
};

// Something done without waiting. Waiting is no work: it is the time between works of a lane.
struct Work {
  Nanos from{};
  Nanos to{};
  std::uint32_t event = model::kNone;  // Of device_events or host_events.
  std::uint32_t lane = model::kNone;   // Of streams or threads.
  std::uint32_t first_need = 0;
  std::uint16_t needs = 0;
  Why why = Why::kHost;
  bool on_device = false;
};

// Where a work has needs, the latest of (end + lag) is its start, to the nanosecond: so a replay
// without a change is the measured timeline. Works are in an order in which each comes after all
// that it needs.
struct WorkGraph {
  std::vector<Work> works;
  std::vector<Need> needs;
  Nanos from{};
  Nanos to{};
  std::vector<Nanos> shifts;  // By source: subtracted from its times to align the ranks' clocks.

  std::span<const Need> needs_of(const Work& work) const {
    return std::span(needs).subspan(work.first_need, work.needs);
  }
};

// Device events of several ranks that are one collective.
struct Collective {
  std::vector<std::uint32_t> events;
};

struct GraphInputs {
  std::span<const Collective> collectives;  // Only those that all its ranks' clocks agree on.
  std::vector<Nanos> shifts;                // By source; empty: none.
  std::vector<Nanos> cuts =
      {};  // In order: what begins from here on came after all that was before.
};

WorkGraph work_graph(const Prepared& prepared, const GraphInputs& inputs = {});

}  // namespace amdahl::profile
