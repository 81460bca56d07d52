// gaps.h: why each device was idle: every gap between its events cut into pieces with a reason.
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

// What does not start for longer than this, though it was launched and nothing is in its way, waits
// for something that the trace does not show: another process on the device, work that is not
// recorded. Nobody knows what would be gained without that.
inline constexpr Nanos kUnexplained{200'000};

// What analyses of one trace share. Build it once; it refers to the trace, which must outlive it.
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
  std::uint32_t host_event = model::kNone;  // Innermost on `thread` meanwhile, if one was.
  std::uint32_t thread = model::kNone;      // That launched what ended the gap.
  bool launched = false;  // The host had done its part: no line of it is to blame.
};

// What people call the place of a piece: the code line, and what ran there.
struct GapPlace {
  Why why = Why::kUnknown;
  // "enumerate(DataLoader)#…", "between operators", and "before gemm" where the host had launched
  // what ended the gap.
  std::string what;
  std::string line;         // "train.py:42 (main)"; empty if the trace does not tell.
  Nanos time{};             // At most what the line, and what is named, ran.
  std::uint64_t times = 0;  // Gaps it had a part in.
};

struct DeviceGaps {
  std::uint32_t device = model::kNone;
  Nanos span{};  // From the first start to the last end.
  Nanos busy{};
  Nanos idle{};
  std::uint64_t gaps = 0;
  Nanos longest{};
  // Before events that a graph launched, or after a graph that shows none: not all its nodes may be
  // shown.
  Nanos in_graphs{};
  std::array<Nanos, kWhys> by_why{};  // Sums to idle, to the nanosecond.
  std::vector<GapPlace> places;       // Longest first.
};

// The pieces of all gaps of one device, in order of time.
std::vector<GapPiece> gap_pieces(const Prepared& prepared, std::uint32_t device);

// One for each device with events. At most `places` places each; the rest is only in by_why.
std::vector<DeviceGaps> gaps(const Prepared& prepared, std::size_t places = 12);

// How many of these events, of a stream or of a device (busy.h), were launched and not yet started,
// over time: a step at each change.
struct Depth {
  Nanos at{};
  std::int32_t waiting = 0;
};
std::vector<Depth> queue_depth(const Prepared& prepared, std::span<const std::uint32_t> events);

}  // namespace amdahl::profile
