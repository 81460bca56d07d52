// host_lanes.h: what each host thread was doing at any time: the innermost event, piece by piece.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/trace.h"
#include "profile/trace_names.h"

namespace amdahl::profile {

// So many levels up nobody is asked: no program nests like that, and a file that lies may not take
// for ever.
inline constexpr int kDeepest = 2000;

// From here on the innermost event of a thread is this one, up to the next turn of the lane.
struct Turn {
  Nanos at{};
  std::uint32_t event = model::kNone;  // kNone: the thread shows nothing.
};

// A turn is at the start of the event that it turns to, or at the end of another: half of what a
// Turn takes. There are two for each host event of a trace.
struct StoredTurn {
  std::uint32_t event = model::kNone;
  std::uint32_t ended = model::kNone;  // kNone: at the start of `event`.
};

// Turns of one thread, or some of them in a row. Refers to the lanes and to their trace.
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
  // The position of the turn that holds `at`; before the first turn it is 0.
  std::size_t holding(Nanos at) const;

 private:
  std::span<const StoredTurn> stored_;
  const model::Trace* trace_;
};

// The turns of all threads, thread by thread. At most two a host event.
class HostLanes {
 public:
  explicit HostLanes(const model::Trace& trace);  // Keeps a reference.

  Turns of(std::uint32_t thread) const;
  std::size_t size() const { return turns_.size(); }  // Of all threads.

 private:
  const model::Trace& trace_;
  std::vector<StoredTurn> turns_;
  std::vector<std::size_t> firsts_;  // Where a thread's turns begin; one more at the end.
};

// Why the innermost event takes time, all events around it considered: a named reason (input,
// checkpoint, logging, garbage, communication, warm-up) of any of them counts, then waiting for the
// device, then launching. kHost for kNone. The first launch of a kernel in its process, and the
// first use of another call, is warm-up where it takes far longer than launches do: it loads or
// compiles.
class HostReasons {
 public:
  HostReasons(const model::Trace& trace, const TraceNames& names);
  Why of(std::uint32_t host_event) const {
    return host_event == model::kNone ? Why::kHost : reasons_[host_event];
  }

 private:
  std::vector<Why> reasons_;  // By host event.
};

// Where in the code a host event is, from Python events or stacks around it: the innermost frame
// that is not a library's, or where there is none, a common package's. Looks at each name once.
class CodeLines {
 public:
  explicit CodeLines(const model::Trace& trace);  // Keeps a reference.

  // The name of that frame, a number of Trace::names; kNone if the trace does not tell.
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

// The outermost operator or call around an event, which names a stretch for people; kNone if there
// is none.
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
