#include "profile/breakdown.h"

#include <algorithm>
#include <optional>

#include "profile/busy.h"
#include "profile/communication.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::DeviceKind;

// The length of a union of stretches that come in order of their starts.
class Covered {
 public:
  void add(Nanos start, Nanos end) {
    if (!any_ || start > end_) {
      total_ += end - start;
    } else if (end > end_) {
      total_ += end - end_;
    } else {
      return;
    }
    any_ = true;
    end_ = end;
  }
  Nanos total() const { return total_; }
  Nanos end() const { return end_; }
  bool any() const { return any_; }

 private:
  Nanos total_{};
  Nanos end_{};
  bool any_ = false;
};

bool is_busy_kind(DeviceKind kind) {
  return kind == DeviceKind::kKernel || kind == DeviceKind::kCopy || kind == DeviceKind::kSet;
}

// Whether an event fills time of its device.
bool fills(const DeviceEvent& event) {
  return is_busy_kind(event.kind) && event.duration > Nanos{};
}

// The event that ends a gap: of those that start at the same instant as the one at `position`, the
// first whose launch is known.
std::uint32_t ending(const model::Trace& trace, std::uint32_t position) {
  const DeviceEvent& first = trace.device_events[position];
  for (std::uint32_t i = position; i < trace.device_events.size(); ++i) {
    const DeviceEvent& event = trace.device_events[i];
    if (event.start != first.start) break;
    if (event.launch == model::kNone || !fills(event)) continue;
    if (trace.device_of(event) == trace.device_of(first)) return i;
  }
  return position;
}

GapCause cause_of(const model::Trace& trace, const DeviceEvent& event, Nanos start) {
  if (event.launch == model::kNone) return GapCause::kUnknown;
  if (trace.host_events[event.launch].start > start) return GapCause::kHostWait;
  return event.start - start < kShortGap ? GapCause::kKernelWait : GapCause::kOther;
}

// Follows one device through its events.
class Follower {
 public:
  void add(const model::Trace& trace, std::uint32_t position, bool communication) {
    const DeviceEvent& event = trace.device_events[position];
    const Nanos end = event.end();
    ++out_.events;
    if (event.kind == DeviceKind::kKernel) {
      ++out_.kernels;
      if (event.duration < kShortKernel) ++out_.short_kernels;
    }
    // What took no time neither fills a gap nor cuts it in two.
    if (event.duration == Nanos{}) return;
    if (!busy_.any()) {
      out_.start = event.start;
    } else if (event.start > busy_.end()) {
      add_gap(trace, trace.device_events[ending(trace, position)]);
    }
    busy_.add(event.start, end);
    if (event.kind != DeviceKind::kKernel) {
      memory_.add(event.start, end);
      return;
    }
    kernels_.add(event.start, end);
    (communication ? communication_ : compute_).add(event.start, end);
  }

  DeviceBreakdown finish() {
    out_.span = busy_.end() - out_.start;
    out_.busy = busy_.total();
    out_.idle = out_.span - out_.busy;
    out_.compute = compute_.total();
    out_.communication = communication_.total();
    out_.memory = memory_.total();
    out_.overlapped = out_.compute + out_.communication - kernels_.total();
    out_.exposed_communication = out_.communication - out_.overlapped;
    out_.exposed_memory = out_.busy - kernels_.total();
    out_.gaps = gaps_.size();
    if (!gaps_.empty()) out_.gap_longest = *std::ranges::max_element(gaps_);
    out_.gap_median = median(gaps_);
    return out_;
  }

  bool any() const { return out_.events > 0; }

 private:
  void add_gap(const model::Trace& trace, const DeviceEvent& event) {
    const auto cause = static_cast<std::size_t>(cause_of(trace, event, busy_.end()));
    const Nanos length = event.start - busy_.end();
    gaps_.push_back(length);
    out_.gap_time[cause] += length;
    ++out_.gap_count[cause];
  }

  DeviceBreakdown out_;
  Covered busy_;
  Covered kernels_;
  Covered compute_;
  Covered communication_;
  Covered memory_;
  std::vector<Nanos> gaps_;
};

}  // namespace

std::vector<DeviceBreakdown> break_down(const model::Trace& trace) {
  std::vector<Follower> followers(trace.devices.size());
  std::vector<bool> used(trace.streams.size(), false);
  CommunicationCache communication;
  for (std::uint32_t i = 0; i < trace.device_events.size(); ++i) {
    const DeviceEvent& event = trace.device_events[i];
    if (!is_busy_kind(event.kind)) continue;
    const bool talks =
        event.kind == DeviceKind::kKernel && communication.is(trace.names, event.name);
    followers[trace.device_of(event)].add(trace, i, talks);
    used[event.stream] = true;
  }
  std::vector<std::uint32_t> streams(trace.devices.size(), 0);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) ++streams[trace.streams[i].device];
  }
  std::vector<DeviceBreakdown> result;
  for (std::uint32_t device = 0; device < followers.size(); ++device) {
    if (!followers[device].any()) continue;
    DeviceBreakdown row = followers[device].finish();
    row.device = device;
    row.streams = streams[device];
    result.push_back(row);
  }
  return result;
}

}  // namespace amdahl::profile
