#include "profile/busy.h"

#include <algorithm>

namespace amdahl::profile {

bool keeps_busy(const model::DeviceEvent& event) {
  if (event.stream == model::kNone) return false;
  return event.kind == model::DeviceKind::kKernel || event.kind == model::DeviceKind::kCopy ||
         event.kind == model::DeviceKind::kSet;
}

bool is_call(const model::HostEvent& event) {
  return event.kind == model::HostKind::kRuntime || event.kind == model::HostKind::kDriver;
}

DeviceLanes::DeviceLanes(const model::Trace& trace) {
  const auto fill = [&](Lists& lists, std::size_t count, auto key) {
    lists.firsts.assign(count + 1, 0);
    for (const model::DeviceEvent& event : trace.device_events) {
      if (keeps_busy(event)) ++lists.firsts[key(event) + 1];
    }
    for (std::size_t i = 1; i <= count; ++i) lists.firsts[i] += lists.firsts[i - 1];
    lists.events.resize(lists.firsts[count]);
    std::vector<std::size_t> next(lists.firsts.begin(), lists.firsts.end() - 1);
    for (std::uint32_t i = 0; i < trace.device_events.size(); ++i) {
      const model::DeviceEvent& event = trace.device_events[i];
      if (keeps_busy(event)) lists.events[next[key(event)]++] = i;
    }
  };
  fill(streams_, trace.streams.size(),
       [](const model::DeviceEvent& event) { return std::size_t{event.stream}; });
  fill(devices_, trace.devices.size(), [&](const model::DeviceEvent& event) {
    return std::size_t{trace.streams[event.stream].device};
  });
}

std::span<const std::uint32_t> DeviceLanes::of_stream(std::uint32_t stream) const {
  const std::size_t first = streams_.firsts[stream];
  return std::span(streams_.events).subspan(first, streams_.firsts[stream + 1] - first);
}

std::span<const std::uint32_t> DeviceLanes::of_device(std::uint32_t device) const {
  const std::size_t first = devices_.firsts[device];
  return std::span(devices_.events).subspan(first, devices_.firsts[device + 1] - first);
}

std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.to <= i.from; });
  if (!std::ranges::is_sorted(intervals, {}, &Interval::from)) {
    std::ranges::sort(intervals, {}, &Interval::from);
  }
  std::size_t kept = 0;
  for (const Interval& next : intervals) {
    if (kept > 0 && next.from <= intervals[kept - 1].to) {
      intervals[kept - 1].to = std::max(intervals[kept - 1].to, next.to);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
  return intervals;
}

Nanos total(std::span<const Interval> merged) {
  Nanos sum{};
  for (const Interval& interval : merged) sum += interval.to - interval.from;
  return sum;
}

Nanos overlap(std::span<const Interval> a, std::span<const Interval> b) {
  Nanos sum{};
  std::size_t j = 0;
  for (const Interval& one : a) {
    while (j < b.size() && b[j].to <= one.from) ++j;
    for (std::size_t k = j; k < b.size() && b[k].from < one.to; ++k) {
      sum += std::min(one.to, b[k].to) - std::max(one.from, b[k].from);
    }
  }
  return sum;
}

Nanos within(std::span<const Interval> list, Interval window) {
  auto next = std::ranges::partition_point(
      list, [&](const Interval& interval) { return interval.to <= window.from; });
  Nanos sum{};
  for (; next != list.end() && next->from < window.to; ++next) {
    sum += std::min(next->to, window.to) - std::max(next->from, window.from);
  }
  return sum;
}

std::vector<Interval> without(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> left;
  std::size_t j = 0;
  for (const Interval& one : a) {
    Nanos from = one.from;
    while (j < b.size() && b[j].to <= one.from) ++j;
    for (std::size_t k = j; k < b.size() && b[k].from < one.to; ++k) {
      if (b[k].from > from) left.push_back({from, b[k].from});
      from = std::max(from, b[k].to);
    }
    if (from < one.to) left.push_back({from, one.to});
  }
  return left;
}

Nanos median(std::vector<Nanos> times) {
  if (times.empty()) return {};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

}  // namespace amdahl::profile
