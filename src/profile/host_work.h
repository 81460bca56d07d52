// host_work.h: the work of each host thread without waiting, split where it launches or waits.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/gaps.h"
#include "profile/stream_order.h"
#include "profile/work.h"

namespace amdahl::profile {

// A device event that a thread had to wait for.
struct Await {
  std::uint32_t event = model::kNone;
  // Waited for room in the stream's queue: what follows the event must have started.
  bool for_room = false;
};

// What host work had to wait for besides its own thread; usually nothing.
struct HostNeeds {
  std::uint32_t handed_by = model::kNone;  // Thread that had to finish first.
  std::uint32_t first_await = 0;           // Index into HostWaits::awaits.
  std::uint32_t awaits = 0;
};

// A call that waits keeps its awaits even if they were already finished: after a what-if change
// they may not be.
struct HostWaits {
  std::vector<HostNeeds> needs;
  std::vector<Await> awaits;
};

// Appends the work of all threads that launch, wait or mark steps, ordered by start within each.
// Work::first_need is an index into HostWaits::needs, or kNone.
HostWaits add_host_work(const Prepared& prepared, const StreamOrder& order,
                        std::vector<Work>& works);

// The last device event that each call launched, directly or in nested calls; mostly kNone.
std::vector<std::uint32_t> launched_by(const model::Trace& trace);

}  // namespace amdahl::profile
