// stream_order.h: in which order work was put on streams, and what a recorded wait waited for.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/busy.h"

namespace amdahl::profile {

// A stream does its work in the order of the calls that put it there. So an event that a call
// recorded is done when the last work put there before that call is done.
class StreamOrder {
 public:
  StreamOrder(const model::Trace& trace, const DeviceLanes& lanes);  // Keeps references.

  // The last work that was put on a stream before `time`; kNone: none is known.
  std::uint32_t last_before(std::uint32_t stream, Nanos time) const;

  // What streams were told to wait for (cudaStreamWaitEvent) before they begin this device event.
  std::span<const std::uint32_t> awaited(std::uint32_t device_event) const;

  // The synchronisation that the profiler recorded for a call, or nullptr.
  const model::SyncEvent* sync_of(const model::HostEvent& call) const;

  // When the event that a synchronisation waits for was recorded; kNone-like Nanos::min(): it is
  // not known.
  Nanos recorded_at(const model::SyncEvent& sync) const;

 private:
  std::uint64_t key_of(std::uint32_t stream, std::uint32_t correlation) const;
  void find_calls();
  void order_streams();
  void find_waits();

  const model::Trace& trace_;
  const DeviceLanes& lanes_;
  std::unordered_map<std::uint64_t, Nanos> calls_;          // Start, of those that are asked for.
  std::unordered_map<std::uint64_t, std::uint32_t> syncs_;  // Of Trace::syncs, by their call.
  std::vector<std::vector<Nanos>> put_;                     // By stream, along its lane.
  std::vector<std::uint32_t> awaited_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> waits_;
};

}  // namespace amdahl::profile
