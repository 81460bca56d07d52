#include "profile/stream_order.h"

#include <algorithm>

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::HostEvent;
using model::kNone;
using model::SyncEvent;
using model::SyncKind;

// Correlations are unique in a process where streams name theirs, else in the source.
constexpr std::uint64_t kOfProcess = std::uint64_t{1} << 63;

constexpr std::uint64_t by_process(std::uint32_t process, std::uint32_t correlation) {
  return kOfProcess | std::uint64_t{process} << 32 | correlation;
}
constexpr std::uint64_t by_source(std::uint32_t source, std::uint32_t correlation) {
  return std::uint64_t{source} << 32 | correlation;
}

std::uint32_t any_stream(const SyncEvent& sync) {
  return sync.stream != kNone ? sync.stream : sync.awaited_stream;
}

}  // namespace

StreamOrder::StreamOrder(const model::Trace& trace, const DeviceLanes& lanes)
    : trace_{trace}, lanes_{lanes}, put_(trace.streams.size()) {
  for (std::uint32_t i = 0; i < trace_.syncs.size(); ++i) {
    const std::uint32_t stream = any_stream(trace_.syncs[i]);
    if (stream == kNone || trace_.syncs[i].correlation == 0) continue;
    syncs_[key_of(stream, trace_.syncs[i].correlation)] = i;
  }
  find_calls();
  order_streams();
  find_waits();
}

std::uint64_t StreamOrder::key_of(std::uint32_t stream, std::uint32_t correlation) const {
  const model::TraceStream& of = trace_.streams[stream];
  if (of.process != kNone) return by_process(of.process, correlation);
  return by_source(trace_.devices[of.device].source, correlation);
}

// When the calls that recorded an event, or made a stream wait for one, began.
void StreamOrder::find_calls() {
  for (const SyncEvent& sync : trace_.syncs) {
    const std::uint32_t stream = any_stream(sync);
    if (stream == kNone) continue;
    const bool waits = sync.kind == SyncKind::kStreamWait && sync.correlation != 0;
    if (waits) calls_.try_emplace(key_of(stream, sync.correlation), Nanos::min());
    if (sync.record_correlation != 0 && sync.awaited_stream != kNone) {
      calls_.try_emplace(key_of(sync.awaited_stream, sync.record_correlation), Nanos::min());
    }
  }
  if (calls_.empty()) return;
  for (const HostEvent& event : trace_.host_events) {
    if (event.correlation == 0) continue;
    const std::uint32_t process = trace_.threads[event.thread].process;
    for (const std::uint64_t key :
         {by_process(process, event.correlation),
          by_source(trace_.processes[process].source, event.correlation)}) {
      const auto found = calls_.find(key);
      // A call of the driver inside one of the runtime has its correlation: the outer one counts.
      if (found != calls_.end() && found->second == Nanos::min()) found->second = event.start;
    }
  }
}

void StreamOrder::order_streams() {
  for (std::uint32_t stream = 0; stream < put_.size(); ++stream) {
    Nanos last = Nanos::min();
    for (const std::uint32_t i : lanes_.of_stream(stream)) {
      const DeviceEvent& event = trace_.device_events[i];
      if (event.launch != kNone) last = std::max(last, trace_.host_events[event.launch].start);
      put_[stream].push_back(last);
    }
  }
}

std::uint32_t StreamOrder::last_before(std::uint32_t stream, Nanos time) const {
  const std::vector<Nanos>& put = put_[stream];
  const auto after = std::ranges::lower_bound(put, time);
  if (after == put.begin() || *(after - 1) == Nanos::min()) return kNone;
  return lanes_.of_stream(stream)[static_cast<std::size_t>(after - put.begin() - 1)];
}

Nanos StreamOrder::recorded_at(const SyncEvent& sync) const {
  if (sync.record_correlation == 0 || sync.awaited_stream == kNone) return Nanos::min();
  const auto found = calls_.find(key_of(sync.awaited_stream, sync.record_correlation));
  return found == calls_.end() ? Nanos::min() : found->second;
}

void StreamOrder::find_waits() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // What waits, and for what.
  for (const SyncEvent& sync : trace_.syncs) {
    if (sync.kind != SyncKind::kStreamWait || sync.stream == kNone || sync.correlation == 0) {
      continue;
    }
    const Nanos recorded = recorded_at(sync);
    const auto call = calls_.find(key_of(sync.stream, sync.correlation));
    if (recorded == Nanos::min() || call == calls_.end() || call->second == Nanos::min()) continue;
    if (sync.awaited_stream == sync.stream) continue;  // Its order says the same.
    const std::vector<Nanos>& put = put_[sync.stream];
    const auto next = std::ranges::lower_bound(put, call->second);
    if (next == put.end()) continue;
    const std::uint32_t on = last_before(sync.awaited_stream, recorded);
    if (on == kNone) continue;
    const auto at = static_cast<std::size_t>(next - put.begin());
    pairs.emplace_back(lanes_.of_stream(sync.stream)[at], on);
  }
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  for (const auto& [event, on] : pairs) {
    const auto first = static_cast<std::uint32_t>(awaited_.size());
    awaited_.push_back(on);
    ++waits_.try_emplace(event, first, 0u).first->second.second;
  }
}

std::span<const std::uint32_t> StreamOrder::awaited(std::uint32_t device_event) const {
  const auto found = waits_.find(device_event);
  if (found == waits_.end()) return {};
  return std::span(awaited_).subspan(found->second.first, found->second.second);
}

const SyncEvent* StreamOrder::sync_of(const HostEvent& call) const {
  if (call.correlation == 0 || syncs_.empty()) return nullptr;
  const std::uint32_t process = trace_.threads[call.thread].process;
  auto found = syncs_.find(by_process(process, call.correlation));
  if (found == syncs_.end()) {
    found = syncs_.find(by_source(trace_.processes[process].source, call.correlation));
  }
  return found == syncs_.end() ? nullptr : &trace_.syncs[found->second];
}

}  // namespace amdahl::profile
