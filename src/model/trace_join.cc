#include "model/trace_join.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

namespace amdahl::model {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";

// What holds what where two events have the same times: a range that the job marked holds Python,
// which holds operators, which hold calls of the runtime, which hold calls of the driver.
constexpr int depth_of(HostKind kind) {
  switch (kind) {
    case HostKind::kAnnotation:
      return 0;
    case HostKind::kPython:
      return 1;
    case HostKind::kOp:
      return 2;
    case HostKind::kRuntime:
      return 3;
    case HostKind::kDriver:
      return 4;
    case HostKind::kOverhead:
    case HostKind::kOther:
      return 5;
  }
  return 5;
}

auto order_of(const HostEvent& event) {
  return std::tuple(event.start, -event.duration, event.thread, depth_of(event.kind),
                    event.correlation, event.name, event.stack);
}

auto order_of(const DeviceEvent& event) {
  return std::tuple(event.start, event.stream, event.duration, event.kind, event.correlation,
                    event.name, event.detail);
}

// Mostly the first field decides, and comparing that alone is much quicker than all of it.
constexpr auto kBefore = [](const auto& a, const auto& b) {
  if (a.start != b.start) return a.start < b.start;
  return order_of(a) < order_of(b);
};

template <class Event>
void sort_events(std::vector<Event>& events) {
  if (!std::ranges::is_sorted(events, kBefore)) std::ranges::sort(events, kBefore);
}

// A call by the key of what it launched: process or source, and correlation.
struct Call {
  std::uint64_t key = 0;
  std::uint32_t position = 0;
};

constexpr std::uint64_t key_of(bool whole_source, std::uint32_t of, std::uint32_t correlation) {
  return std::uint64_t{whole_source} << 63 | std::uint64_t{of} << 32 | correlation;
}

// Which sources have streams that name no process, so that the join is by source.
std::vector<bool> joined_whole(const Trace& trace) {
  std::vector<bool> whole(trace.sources.size(), false);
  for (const TraceStream& stream : trace.streams) {
    if (stream.process == kNone) whole[trace.devices[stream.device].source] = true;
  }
  return whole;
}

// Sorted by key, and by time within it.
std::vector<Call> calls_of(const Trace& trace) {
  const std::vector<bool> whole = joined_whole(trace);
  std::vector<Call> calls;
  for (std::uint32_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (event.correlation == 0 || event.thread == kNone) continue;
    if (event.kind != HostKind::kRuntime && event.kind != HostKind::kDriver) continue;
    const std::uint32_t process = trace.threads[event.thread].process;
    const std::uint32_t source = trace.processes[process].source;
    const bool by_source = whole[source];
    calls.push_back({key_of(by_source, by_source ? source : process, event.correlation), i});
  }
  const auto order = [](const Call& a, const Call& b) {
    return std::tuple(a.key, a.position) < std::tuple(b.key, b.position);
  };
  if (!std::ranges::is_sorted(calls, order)) std::ranges::sort(calls, order);
  return calls;
}

std::optional<std::int64_t> step_number(std::string_view name) {
  if (!name.starts_with(kStep)) return {};
  name.remove_prefix(kStep.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return {};
  return number;
}

}  // namespace

void sort_rows(Trace& trace) {
  sort_events(trace.host_events);
  sort_events(trace.device_events);
  std::ranges::stable_sort(trace.syncs, {}, &SyncEvent::start);
  std::ranges::stable_sort(trace.samples, {}, &Sample::at);
  std::ranges::stable_sort(trace.thread_spans, {}, &ThreadSpan::start);
  std::ranges::stable_sort(trace.stack_samples, {}, &StackSample::at);
}

void find_parents(Trace& trace) {
  std::vector<std::uint32_t> open(trace.threads.size(), kNone);  // The innermost, by thread.
  for (std::uint32_t i = 0; i < trace.host_events.size(); ++i) {
    HostEvent& event = trace.host_events[i];
    if (event.thread == kNone) continue;
    std::uint32_t around = open[event.thread];
    while (around != kNone) {
      const HostEvent& outer = trace.host_events[around];
      const bool over = outer.end() <= event.start && outer.start != event.start;
      if (!over && outer.end() >= event.end()) break;
      around = outer.parent;
    }
    event.parent = around;
    open[event.thread] = i;
  }
}

void join_launches(Trace& trace) {
  const std::vector<Call> calls = calls_of(trace);
  for (DeviceEvent& event : trace.device_events) {
    event.launch = kNone;
    if (event.correlation == 0 || event.stream == kNone) continue;
    const TraceStream& stream = trace.streams[event.stream];
    const bool by_source = stream.process == kNone;
    const std::uint32_t of = by_source ? trace.devices[stream.device].source : stream.process;
    const std::uint64_t key = key_of(by_source, of, event.correlation);
    const auto after = std::ranges::upper_bound(calls, key, {}, &Call::key);
    if (after != calls.begin() && (after - 1)->key == key) event.launch = (after - 1)->position;
  }
}

void find_steps(Trace& trace) {
  std::vector<bool> given(trace.sources.size(), false);
  for (const Step& step : trace.steps) {
    given[trace.processes[trace.threads[step.thread].process].source] = true;
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> numbers;  // By name; names are few.
  for (std::uint32_t name = 0; name < trace.names.size(); ++name) {
    if (const auto number = step_number(trace.names[name])) numbers.emplace_back(name, *number);
  }
  if (numbers.empty()) return;
  for (const HostEvent& event : trace.host_events) {
    if (event.kind != HostKind::kAnnotation && event.kind != HostKind::kOp) continue;
    if (event.thread == kNone) continue;
    const auto found = std::ranges::lower_bound(numbers, std::pair(event.name, INT64_MIN));
    if (found == numbers.end() || found->first != event.name) continue;
    if (given[trace.processes[trace.threads[event.thread].process].source]) continue;
    trace.steps.push_back({event.start, event.duration, found->second, event.thread});
  }
}

}  // namespace amdahl::model
