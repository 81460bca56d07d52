// host_work.h: what each host thread did without waiting, cut where it launches or waits.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/gaps.h"
#include "profile/stream_order.h"
#include "profile/work.h"

namespace amdahl::profile {

// A device event that a thread could not go on before.
struct Await {
  std::uint32_t event = model::kNone;
  bool for_room = false;  // In the stream's queue: what follows the event had to have begun.
};

// What a host's work had to wait for beside its thread; most wait for nothing.
struct HostNeeds {
  std::uint32_t handed_by = model::kNone;  // Thread that had to be done first.
  std::uint32_t first_await = 0;           // Of HostWaits::awaits.
  std::uint32_t awaits = 0;
};

// A call that waits has its awaits also where they were done already: after a change they may not
// be.
struct HostWaits {
  std::vector<HostNeeds> needs;
  std::vector<Await> awaits;
};

// Appends the work of all threads that launch, wait or mark steps, in order of start within each.
// Work::first_need is a position in HostWaits::needs, or kNone.
HostWaits add_host_work(const Prepared& prepared, const StreamOrder& order,
                        std::vector<Work>& works);

// The last device event that each call launched, itself or within it; kNone for most events.
std::vector<std::uint32_t> launched_by(const model::Trace& trace);

}  // namespace amdahl::profile
