// host_lanes.h: the innermost event of each host thread at any time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trace.h"
#include "profile/trace_names.h"

namespace amdahl::profile {

// Limit on nesting: no real program nests this deep, and a malformed file must not take forever.
inline constexpr int kDeepest = 2000;

// From `at` on, `event` is the thread's innermost event, until the next turn of the lane.
struct Turn {
  Nanos at{};
  std::uint32_t event = model::kNone;  // kNone: nothing recorded on the thread.
};

// A turn at the start of `event`, or at the end of another one. Half the size of a Turn; there are
// two per host event of a trace.
struct StoredTurn {
  std::uint32_t event = model::kNone;
  std::uint32_t ended = model::kNone;  // kNone: the turn is at the start of `event`.
};

// Consecutive turns of one thread. Refers to the lanes and their trace.
class Turns {
 public:
  Turns(std::span<const StoredTurn> stored, const model::Trace& trace)
      : stored_{stored}, trace_{&trace} {}

  std::size_t size() const { return stored_.size(); }
  bool empty() const { return stored_.empty(); }
  Nanos at(std::size_t i) const;
  std::uint32_t event(std::size_t i) const { return stored_[i].event; }
  Turn operator[](std::size_t i) const { return {at(i), event(i)}; }
  Turns part(std::size_t first, std::size_t count) const {
    return {stored_.subspan(first, count), *trace_};
  }
  // The index of the turn that contains `at`; 0 before the first one.
  std::size_t holding(Nanos at) const;

 private:
  std::span<const StoredTurn> stored_;
  const model::Trace* trace_;
};

// The turns of all threads, thread by thread. At most two per host event.
class HostLanes {
 public:
  explicit HostLanes(const model::Trace& trace);  // Keeps a reference.

  Turns of(std::uint32_t thread) const;
  std::size_t size() const { return turns_.size(); }  // All threads.

 private:
  const model::Trace& trace_;
  std::vector<StoredTurn> turns_;
  std::vector<std::size_t> firsts_;  // First turn of each thread, and the end.
};

// Why the innermost event takes time, considering all enclosing events. A named reason (input,
// checkpoint, logging, garbage, communication, warm-up) of any of them comes first, then waiting
// for the device, then launching. kHost for kNone. The first launch of a kernel in a process, and
// the first use of another call, is warm-up if it takes far longer than usual: it loads or
// compiles. So is all that a thread does while it captures a CUDA graph.
class HostReasons {
 public:
  HostReasons(const model::Trace& trace, const TraceNames& names);
  Why of(std::uint32_t host_event) const {
    return host_event == model::kNone ? Why::kHost : reasons_[host_event];
  }

 private:
  std::vector<Why> reasons_;  // By host event.
};

// The code line of a host event, from enclosing Python events or stacks: the innermost frame
// outside libraries; if there is none, that of a common package. Examines each name once.
class CodeLines {
 public:
  explicit CodeLines(const model::Trace& trace);  // Keeps a reference.

  // That frame as an index into Trace::names; kNone if unknown.
  std::uint32_t frame(std::uint32_t host_event) const;
  // "train.py:42 (main)"; empty for kNone.
  std::string text(std::uint32_t frame) const;

 private:
  enum Kind : std::uint8_t { kNotLookedAt, kOwn, kPackage, kNoLine };
  Kind kind(std::uint32_t name) const;
  bool is_own(std::uint32_t name) const { return kind(name) == kOwn; }

  const model::Trace& trace_;
  mutable std::vector<Kind> known_;  // By name.
};

// The outermost operator or call around an event, which names an interval for people; kNone if
// there is none.
class OuterWork {
 public:
  OuterWork(const model::Trace& trace, const TraceNames& names);
  std::uint32_t of(std::uint32_t host_event) const {
    return host_event == model::kNone ? model::kNone : works_[host_event];
  }

 private:
  std::vector<std::uint32_t> works_;  // By host event.
};

}  // namespace amdahl::profile
