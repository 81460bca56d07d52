// stream_order.h: the order in which work was put on streams, and what recorded waits waited for.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/busy.h"

namespace amdahl::profile {

// A stream runs its work in the order of the calls that put it there. So a recorded event is done
// when the last work put there before the recording call is done.
class StreamOrder {
 public:
  StreamOrder(const model::Trace& trace, const DeviceLanes& lanes);  // Keeps references.

  // The last work put on a stream before `time`; kNone if unknown.
  std::uint32_t last_before(std::uint32_t stream, Nanos time) const;

  // What the stream was told to wait for (cudaStreamWaitEvent) before it starts this device event.
  std::span<const std::uint32_t> awaited(std::uint32_t device_event) const;

  // The synchronisation recorded for a call, or nullptr.
  const model::SyncEvent* sync_of(const model::HostEvent& call) const;

  // When the event that a synchronisation waits for was recorded; Nanos::min() if unknown.
  Nanos recorded_at(const model::SyncEvent& sync) const;

 private:
  std::uint64_t key_of(std::uint32_t stream, std::uint32_t correlation) const;
  void find_calls();
  void order_streams();
  void find_waits();

  const model::Trace& trace_;
  const DeviceLanes& lanes_;
  std::unordered_map<std::uint64_t, Nanos> calls_;  // Start times, of the calls that are needed.
  std::unordered_map<std::uint64_t, std::uint32_t> syncs_;  // Index into Trace::syncs by call.
  std::vector<std::vector<Nanos>> put_;                     // By stream, parallel to its lane.
  std::vector<std::uint32_t> awaited_;
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> waits_;
};

}  // namespace amdahl::profile
