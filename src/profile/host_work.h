// host_work.h: what each host thread did without waiting, cut where it launches or waits.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/gaps.h"
#include "profile/stream_order.h"

namespace amdahl::profile {

// A device event that a thread could not go on before.
struct Await {
  std::uint32_t event = model::kNone;
  bool for_room = false;  // In the stream's queue: what follows the event had to have begun.
};

struct HostWork {
  Nanos from{};
  Nanos to{};
  std::uint32_t event = model::kNone;  // Of host_events.
  std::uint32_t thread = model::kNone;
  std::uint32_t handed_by = model::kNone;  // Thread that had to be done first.
  std::uint32_t first_await = 0;           // Of HostWorks::awaits.
  std::uint32_t awaits = 0;
  Why why = Why::kHost;
};

// Of all threads that launch, wait or mark steps, in order of start within each. A call that waits
// has its awaits also where they were done already: after a change they may not be.
struct HostWorks {
  std::vector<HostWork> works;
  std::vector<Await> awaits;
};
HostWorks host_work(const Prepared& prepared, const StreamOrder& order);

// The last device event that each call launched, itself or within it; kNone for most events.
std::vector<std::uint32_t> launched_by(const model::Trace& trace);

}  // namespace amdahl::profile
