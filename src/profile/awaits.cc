#include "profile/awaits.h"

#include <algorithm>

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::HostEvent;
using model::kNone;
using model::SyncEvent;
using model::SyncKind;

// A launch that takes this long with that many launches ahead of it waits for room in the queue.
constexpr Nanos kLongLaunch{50'000};
constexpr std::ptrdiff_t kFullQueue = 200;
// A queue's size is known where so many launches waited for room, with about as many ahead of each.
constexpr int kBlockedLaunches = 3;
constexpr std::ptrdiff_t kSameDepth = 8;
// A launch that takes this long, and ends so soon after work of a device did, waited for room too.
constexpr Nanos kBlockedLaunch{200'000};
constexpr Nanos kWakeUp{50'000};
// How far to look back for work that was done when a call returned.
constexpr int kTries = 8;

}  // namespace

Awaits::Awaits(const Prepared& prepared, const StreamOrder& order,
               const std::vector<std::uint32_t>& launched, std::vector<Await>& out)
    : in_{prepared}, order_{order}, launched_{launched}, out_{out} {
  find_rooms();
}

Awaits::Found Awaits::of(std::uint32_t call, Streams streams) {
  const HostEvent& event = in_.trace.host_events[call];
  const Api api = in_.names.api(event);
  Found found;
  found.first = static_cast<std::uint32_t>(out_.size());
  until_ = event.start;
  const std::uint32_t own = launched_[call];
  if (api == Api::kSync || api == Api::kFree) {
    sync(event, streams);
    // The launches of what it waited for may lie before the file's beginning.
    if (out_.size() == found.first && event.duration >= kBlockedLaunch) {
      ended_in(event, streams.of_thread, false, event.end() - kWakeUp);
    }
    found.waits = true;
  } else if (own != kNone) {
    const Nanos end = in_.trace.device_events[own].end();
    const bool copies = api == Api::kCopy || api == Api::kBlockingCopy;
    if (copies && end > event.start && end <= event.end()) {
      out_.push_back({own});
      until_ = end;
      found.waits = true;
    } else {
      room(event, own);
    }
  } else if (api == Api::kLaunch && event.duration >= kBlockedLaunch) {
    // What it launched is not recorded, so that nobody knows how much was ahead of it.
    ended_in(event, streams.of_thread, true, event.end() - kWakeUp);
  }
  found.count = static_cast<std::uint32_t>(out_.size()) - found.first;
  found.waits = found.waits && found.count > 0;
  found.until = std::clamp(until_, event.start, event.end());
  return found;
}

void Awaits::sync(const HostEvent& call, Streams streams) {
  if (in_.names.api(call) == Api::kFree) {
    ended_in(call, streams.of_thread, false);
    return;
  }
  const SyncEvent* const seen = order_.sync_of(call);
  const SyncKind kind = seen == nullptr ? SyncKind::kUnknown : seen->kind;
  if (kind == SyncKind::kStream && seen->stream != kNone) {
    return known(call, seen->stream, call.start);
  }
  if (kind == SyncKind::kEvent && seen->awaited_stream != kNone) {
    const Nanos recorded = order_.recorded_at(*seen);
    if (recorded != Nanos::min()) return known(call, seen->awaited_stream, recorded);
    ended_in(call, std::span(&seen->awaited_stream, 1), false);
    return;
  }
  if (kind == SyncKind::kDevice || in_.names.syncs_device(call)) {
    const std::uint32_t device = device_of(call, streams.of_process);
    for (const std::uint32_t stream : streams.of_process) {
      if (in_.trace.streams[stream].device == device) known(call, stream, call.start);
    }
    if (device != kNone) return;
  }
  // It is not known which stream: what ended while the call ran, and was of the thread's doing.
  if (ended_in(call, streams.of_thread, false)) return;
  if (streams.of_thread.size() == 1) known(call, streams.of_thread.front(), call.start);
}

// The device that a call waits for: as the profiler recorded, or the only one of the process.
std::uint32_t Awaits::device_of(const HostEvent& call,
                                std::span<const std::uint32_t> of_process) const {
  const SyncEvent* const seen = order_.sync_of(call);
  if (seen != nullptr && seen->stream != kNone) return in_.trace.streams[seen->stream].device;
  std::uint32_t device = kNone;
  for (const std::uint32_t stream : of_process) {
    const std::uint32_t of = in_.trace.streams[stream].device;
    if (device != kNone && of != device) return kNone;
    device = of;
  }
  return device;
}

// All that was put on the stream before that time.
void Awaits::known(const HostEvent& call, std::uint32_t stream, Nanos put_before) {
  const std::uint32_t last = order_.last_before(stream, put_before);
  if (last == kNone) return;
  const auto lane = in_.devices.of_stream(stream);
  auto at = std::ranges::lower_bound(lane, last);
  // Clocks of hosts and devices differ a little: what ended after the call was not waited for.
  for (int tries = 0; tries < kTries; ++tries, --at) {
    const Nanos end = in_.trace.device_events[*at].end();
    if (end <= call.end()) {
      out_.push_back({*at});
      until_ = std::max(until_, end);
      return;
    }
    if (at == lane.begin()) return;
  }
}

// The device event that ended last while the call ran; false: none did.
bool Awaits::ended_in(const HostEvent& call, std::span<const std::uint32_t> streams, bool room,
                      Nanos not_before) {
  std::uint32_t best = kNone;
  Nanos best_end = std::max(call.start, not_before);
  for (const std::uint32_t stream : streams) {
    const auto lane = in_.devices.of_stream(stream);
    auto after = std::ranges::partition_point(
        lane, [&](std::uint32_t i) { return in_.trace.device_events[i].start < call.end(); });
    // What still runs at the end was not waited for; before it one must have ended.
    for (int tries = 0; after != lane.begin() && tries < kTries; ++tries) {
      --after;
      const Nanos end = in_.trace.device_events[*after].end();
      if (end > call.end()) continue;
      if (end > best_end) {
        best = *after;
        best_end = end;
      }
      break;
    }
  }
  if (best == kNone) return false;
  out_.push_back({best, room});
  until_ = std::max(until_, best_end);
  return true;
}

// Whether a launch took long because so much was launched and not begun; `ahead`: how much.
bool Awaits::is_blocked(const HostEvent& call, std::uint32_t own, std::ptrdiff_t& ahead) const {
  const DeviceEvent& work = in_.trace.device_events[own];
  if (call.duration < kLongLaunch || work.start < call.end()) return false;
  const auto lane = in_.devices.of_stream(work.stream);
  const auto mine = std::ranges::lower_bound(lane, own);
  const auto running = std::ranges::partition_point(
      lane, [&](std::uint32_t i) { return in_.trace.device_events[i].start <= call.end(); });
  ahead = mine - running;
  return ahead >= kFullQueue;
}

// A queue is full with as much as was ahead of the launches that had to wait.
void Awaits::find_rooms() {
  struct QueueDepth {
    std::ptrdiff_t least = 0;
    std::ptrdiff_t most = 0;
    int times = 0;
  };
  std::vector<QueueDepth> seen(in_.trace.streams.size());
  for (std::uint32_t i = 0; i < in_.trace.host_events.size(); ++i) {
    const std::uint32_t own = launched_[i];
    const HostEvent& call = in_.trace.host_events[i];
    std::ptrdiff_t ahead = 0;
    if (own == kNone || !is_blocked(call, own, ahead)) continue;
    QueueDepth& of = seen[in_.trace.device_events[own].stream];
    of.least = of.times == 0 ? ahead : std::min(of.least, ahead);
    of.most = std::max(of.most, ahead);
    ++of.times;
  }
  rooms_.assign(seen.size(), 0);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const bool agree = seen[i].most - seen[i].least <= kSameDepth;
    // One more had begun when the call returned: that made the room.
    if (seen[i].times >= kBlockedLaunches && agree) rooms_[i] = seen[i].most + 1;
  }
}

void Awaits::room(const HostEvent& call, std::uint32_t own) {
  const DeviceEvent& work = in_.trace.device_events[own];
  const std::ptrdiff_t size = rooms_[work.stream];
  if (size > 0 && !in_.names.is_graph(call)) {
    const auto lane = in_.devices.of_stream(work.stream);
    const auto mine = std::ranges::lower_bound(lane, own) - lane.begin();
    if (mine <= size) {
      // What was ahead of it when the file begins is not recorded.
      if (call.duration >= kBlockedLaunch) {
        ended_in(call, std::span(&work.stream, 1), true, call.end() - kWakeUp);
      }
      return;
    }
    const Nanos begun = in_.trace.device_events[lane[static_cast<std::size_t>(mine - size)]].start;
    if (begun <= call.end()) {
      // Not all work takes the same room: what ended just before the call did is what made it.
      if (call.end() - begun > kWakeUp &&
          ended_in(call, std::span(&work.stream, 1), true, call.end() - kWakeUp)) {
        return;
      }
      out_.push_back({lane[static_cast<std::size_t>(mine - size - 1)], true});
      until_ = std::max(until_, begun);
      return;
    }
  }
  std::ptrdiff_t ahead = 0;
  if (is_blocked(call, own, ahead)) ended_in(call, std::span(&work.stream, 1), true);
}

}  // namespace amdahl::profile
