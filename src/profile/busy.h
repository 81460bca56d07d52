// busy.h: when each device was busy, and its events by stream.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

// Half open.
struct Interval {
  Nanos from{};
  Nanos to{};
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Kernels, copies and sets keep a device busy.
bool keeps_busy(const model::DeviceEvent& event);

// Whether it is a call of the accelerator's runtime or driver.
bool is_call(const model::HostEvent& event);

// The events that keep a device busy, ordered by start.
class DeviceLanes {
 public:
  explicit DeviceLanes(const model::Trace& trace);

  std::span<const std::uint32_t> of_stream(std::uint32_t stream) const;
  std::span<const std::uint32_t> of_device(std::uint32_t device) const;

 private:
  struct Lists {
    std::vector<std::uint32_t> events;
    std::vector<std::size_t> firsts;
  };
  Lists streams_;
  Lists devices_;
};

// Sorted, disjoint, non-empty, non-adjacent intervals.
std::vector<Interval> merged(std::vector<Interval> intervals);
Nanos total(std::span<const Interval> merged);
// For merged lists: the length of the overlap, and the first list without the second.
Nanos overlap(std::span<const Interval> a, std::span<const Interval> b);
// How much of a merged list lies within one interval.
Nanos within(std::span<const Interval> merged, Interval window);
std::vector<Interval> without(std::span<const Interval> a, std::span<const Interval> b);

// The upper median; 0 if empty.
Nanos median(std::vector<Nanos> times);

}  // namespace amdahl::profile
