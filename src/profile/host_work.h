// host_work.h: what each host thread did without waiting, cut where it launches or waits.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/gaps.h"

namespace amdahl::profile {

struct HostWork {
  Nanos from{};
  Nanos to{};
  std::uint32_t event = model::kNone;  // Of host_events.
  std::uint32_t thread = model::kNone;
  std::uint32_t awaits = model::kNone;     // Device event that it could not begin before.
  std::uint32_t handed_by = model::kNone;  // Thread that had to be done first.
  Why why = Why::kHost;
};

// Of all threads that launch, wait or mark steps, in order of start within each.
std::vector<HostWork> host_work(const Prepared& prepared);

// The last device event that each call launched, itself or within it; kNone for most events.
std::vector<std::uint32_t> launched_by(const model::Trace& trace);

}  // namespace amdahl::profile
