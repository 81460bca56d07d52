// gaps.h: why each device was idle: splits every gap between its events by reason.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trace.h"
#include "profile/busy.h"
#include "profile/host_lanes.h"
#include "profile/trace_names.h"

namespace amdahl::profile {

// An event that was launched and could start, but does not for longer than this, waits for
// something that the trace does not show: another process on the device, or unrecorded work. What
// removing it would gain is unknown.
inline constexpr Nanos kUnexplained{200'000};

// Shared by all analyses of one trace. Build it once; the trace must outlive it.
struct Prepared {
  explicit Prepared(const model::Trace& of);

  const model::Trace& trace;
  TraceNames names;
  DeviceLanes devices;
  HostLanes hosts;
  HostReasons reasons;
  OuterWork works;
};

// A piece of a device's idle time.
struct GapPiece {
  Nanos from{};
  Nanos to{};
  Why why = Why::kUnknown;
  std::uint32_t host_event = model::kNone;  // Innermost event on `thread` at that time, if any.
  std::uint32_t thread = model::kNone;      // Thread that launched what ended the gap.
  bool launched = false;  // The host had already launched it: no line of the host is to blame.
};

// The place of a piece for people: the code line, and what ran there.
struct GapPlace {
  Why why = Why::kUnknown;
  // "enumerate(DataLoader)#…", "between operators", or "before gemm" if what ended the gap was
  // already launched.
  std::string what;
  std::string line;         // "train.py:42 (main)"; empty: unknown.
  Nanos time{};             // At most the time that the line and the named event ran.
  std::uint64_t times = 0;  // Number of gaps it contributed to.
};

struct DeviceGaps {
  std::uint32_t device = model::kNone;
  Nanos span{};  // From first start to last end.
  Nanos busy{};
  Nanos idle{};
  std::uint64_t gaps = 0;
  Nanos longest{};
  // Idle time next to events launched by a graph: not all nodes of the graph may be recorded.
  Nanos in_graphs{};
  std::array<Nanos, kWhys> by_why{};  // Sums exactly to idle.
  std::vector<GapPlace> places;       // Longest first.
};

// The pieces of all gaps of one device, ordered by time.
std::vector<GapPiece> gap_pieces(const Prepared& prepared, std::uint32_t device);

// One per device with events. At most `places` places each; the rest is only in by_why.
std::vector<DeviceGaps> gaps(const Prepared& prepared, std::size_t places = 12);

// Number of events of a stream or device (busy.h) that were launched but not started, over time:
// one entry per change.
struct Depth {
  Nanos at{};
  std::int32_t waiting = 0;
};
std::vector<Depth> queue_depth(const Prepared& prepared, std::span<const std::uint32_t> events);

}  // namespace amdahl::profile
