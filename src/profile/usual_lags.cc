#include "profile/usual_lags.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::kNone;

Nanos median_or(std::vector<Nanos>& times, Nanos otherwise) {
  if (times.empty()) return otherwise;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Calls `see(event, end of the one before it on its stream, start of its launch, end of the last
// that its stream was told to wait for)` for each event that was launched; Nanos::min(): none.
template <class See>
void each_launched(const Prepared& in, const StreamOrder& order, See see) {
  std::vector<Nanos> ends(in.trace.streams.size(), Nanos::min());
  for (std::uint32_t i = 0; i < in.trace.device_events.size(); ++i) {
    const DeviceEvent& event = in.trace.device_events[i];
    if (!keeps_busy(event)) continue;
    const Nanos before = std::exchange(ends[event.stream], event.end());
    if (event.launch == kNone) continue;
    Nanos awaited = Nanos::min();
    for (const std::uint32_t on : order.awaited(i)) {
      awaited = std::max(awaited, in.trace.device_events[on].end());
    }
    see(event, before, in.trace.host_events[event.launch].start, awaited);
  }
}

}  // namespace

Usual usual_lags(const Prepared& in, const StreamOrder& order) {
  constexpr Nanos kNever = Nanos::min();
  Usual usual;
  std::vector<Nanos> lags;
  each_launched(in, order, [&](const DeviceEvent& event, Nanos before, Nanos launched, Nanos on) {
    if (on != kNever || launched < before || launched > event.start) return;
    lags.push_back(event.start - launched);
  });
  usual.launch = median_or(lags, kUsualLaunch);
  lags.clear();
  each_launched(in, order, [&](const DeviceEvent& event, Nanos before, Nanos launched, Nanos on) {
    if (on != kNever || before == kNever || launched + usual.launch > before) return;
    if (before <= event.start) lags.push_back(event.start - before);
  });
  usual.queue = median_or(lags, kUsualQueue);
  lags.clear();
  each_launched(in, order, [&](const DeviceEvent& event, Nanos before, Nanos launched, Nanos on) {
    if (on == kNever || on > event.start || launched + usual.launch > on) return;
    if (before == kNever || before + usual.queue <= on) lags.push_back(event.start - on);
  });
  usual.stream_wait = median_or(lags, usual.queue);
  return usual;
}

}  // namespace amdahl::profile
