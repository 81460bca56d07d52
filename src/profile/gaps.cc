#include "profile/gaps.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::HostEvent;
using model::kNone;

// From a copy's call to its start: longer than this is not the way to the device but staging.
constexpr Nanos kStaging{30'000};

bool is_named(Why why) {
  return why == Why::kInput || why == Why::kCheckpoint || why == Why::kLogging || why == Why::kGc ||
         why == Why::kComm || why == Why::kProfiler || why == Why::kWarmup;
}

// The threads of a process that show operators or calls, the busiest first.
std::vector<std::vector<std::uint32_t>> working_threads(const model::Trace& trace,
                                                        const TraceNames& names) {
  std::vector<std::size_t> counts(trace.threads.size(), 0);
  for (const HostEvent& event : trace.host_events) {
    counts[event.thread] += names.is_silent(event) || names.is_of_system(event) ? 0 : 1;
  }
  std::vector<std::vector<std::uint32_t>> threads(trace.processes.size());
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    if (counts[i] > 0) threads[trace.threads[i].process].push_back(i);
  }
  for (std::vector<std::uint32_t>& of_process : threads) {
    std::ranges::stable_sort(of_process, std::ranges::greater{},
                             [&](std::uint32_t i) { return counts[i]; });
    if (of_process.size() > 8) of_process.resize(8);
  }
  return threads;
}

class Explain {
 public:
  explicit Explain(const Prepared& prepared)
      : in_{prepared}, working_{working_threads(prepared.trace, prepared.names)} {}

  // What comes next is another device.
  void start_device() {
    gaps_.clear();
    owed_.clear();
  }

  // Cuts the gap that `ending` ends; `before` is the event of its stream before it, or kNone.
  void gap(Interval gap, std::uint32_t ending, std::uint32_t before, std::vector<GapPiece>& out) {
    const DeviceEvent& event = in_.trace.device_events[ending];
    if (event.launch == kNone) {
      const bool same_graph = gap.to - gap.from <= kUnexplained && before != kNone &&
                              event.correlation != 0 &&
                              in_.trace.device_events[before].correlation == event.correlation;
      out.push_back(
          {gap.from, gap.to, same_graph ? Why::kQueue : Why::kUnknown, kNone, kNone, true});
      gaps_.push_back(gap);
      return;
    }
    const HostEvent& launch = in_.trace.host_events[event.launch];
    const Nanos launched = std::clamp(launch.start, gap.from, gap.to);
    if (launched > gap.from) host({gap.from, launched}, event.launch, out);
    gaps_.push_back(gap);
    after_launch({launched, gap.to}, gap.from, event, out);
  }

 private:
  bool works(std::uint32_t host_event) const {
    if (host_event == kNone) return false;
    return !in_.names.is_silent(in_.trace.host_events[host_event]) ||
           is_named(in_.reasons.of(host_event));
  }

  // Whether the launching thread may have waited for it.
  bool works_for_others(std::uint32_t host_event) const {
    return works(host_event) && (!in_.names.is_of_system(in_.trace.host_events[host_event]) ||
                                 is_named(in_.reasons.of(host_event)));
  }

  // From the launch to the start of what it launched.
  void after_launch(Interval rest, Nanos gap_from, const DeviceEvent& event,
                    std::vector<GapPiece>& out) const {
    if (rest.from >= rest.to) return;
    const HostEvent& launch = in_.trace.host_events[event.launch];
    const bool copies_in =
        event.kind == model::DeviceKind::kCopy && event.copy == model::CopyKind::kHostToDevice;
    const Nanos returned = std::clamp(launch.end(), rest.from, rest.to);
    const Why named = in_.reasons.of(event.launch);
    const bool staged = copies_in && rest.to - launch.start > kStaging;
    const Why calling = is_named(named) ? named : staged ? Why::kCopy : Why::kLaunch;
    if (rest.from < returned) {
      out.push_back({rest.from, returned, calling, event.launch, launch.thread});
    }
    if (returned == rest.to) return;
    // From here on the call is no place any more. If the device was idle when it was made, the way
    // to the device is a part of it; else the work was queued.
    const bool late = launch.start >= gap_from;
    const bool goes_on = late && calling != Why::kLaunch && calling != Why::kWarmup;
    const bool explained = rest.to - returned <= kUnexplained;
    const Why after = goes_on      ? calling
                      : !explained ? Why::kUnknown
                      : late       ? Why::kLaunch
                                   : Why::kQueue;
    out.push_back({returned, rest.to, after, kNone, launch.thread, true});
  }

  // The call around `host_event` that waits for a device, if it began before `by`.
  std::uint32_t waiting_call(std::uint32_t host_event, Nanos by) const {
    int levels = 0;
    for (std::uint32_t i = host_event; i != kNone && levels < kDeepest;
         i = in_.trace.host_events[i].parent, ++levels) {
      const HostEvent& event = in_.trace.host_events[i];
      const Api api = in_.names.api(event);
      const bool waits =
          api == Api::kSync || api == Api::kBlockingCopy || api == Api::kFree || api == Api::kCopy;
      if (waits && event.start < by) return i;
    }
    return kNone;
  }

  // How much of a time before the gap the device was busy: nobody waits for an idle one.
  Nanos waited(Interval time) const {
    Nanos busy = time.to - time.from;
    for (auto gap = gaps_.rbegin(); gap != gaps_.rend() && gap->to > time.from; ++gap) {
      busy -= gap->to - std::max(gap->from, time.from);
    }
    return busy;
  }

  // What hosts did until they launched. `credit` is how far the launching thread would have been
  // ahead had it not waited for the device: plain work up to that is the waiting's doing.
  void host(Interval part, std::uint32_t launch, std::vector<GapPiece>& out) {
    const std::uint32_t thread = in_.trace.host_events[launch].thread;
    const Turns turns = in_.hosts.of(thread);
    std::size_t i = turns.holding(part.from);
    const std::uint32_t first = turns.at(i) <= part.from ? turns.event(i) : kNone;
    const std::uint32_t call = waiting_call(first, part.from);
    waited_in_ = call;
    Nanos credit = call == kNone ? Nanos{} : waited({in_.trace.host_events[call].start, part.from});
    // A call that several gaps begin in has waited only once.
    if (call != kNone) credit -= std::min(credit, owed_[call]);
    const Nanos waited_until = call == kNone ? part.from : in_.trace.host_events[call].end();
    for (Nanos from = part.from; from < part.to;) {
      const bool before_all = turns.at(i) > from;
      const std::uint32_t event = before_all ? kNone : turns.event(i);
      const std::size_t next = before_all ? i : i + 1;
      Nanos to = next < turns.size() ? std::min(turns.at(next), part.to) : part.to;
      if (call != kNone && from < waited_until) {
        to = std::min(to, waited_until);
        put({from, to}, event, thread, Why::kSync, out);
      } else if (works(event)) {
        charge({from, to}, event, thread, credit, out);
      } else {
        others({from, to}, event, thread, credit, out);
      }
      if (next < turns.size() && to == turns.at(next)) i = next;
      from = to;
    }
  }

  // The thread shows no work: another of its process may be at it.
  void others(Interval part, std::uint32_t own, std::uint32_t thread, Nanos& credit,
              std::vector<GapPiece>& out) {
    for (const std::uint32_t other : working_[in_.trace.threads[thread].process]) {
      if (other == thread) continue;
      const Turns turns = in_.hosts.of(other);
      std::size_t i = turns.holding(part.from);
      bool any = false;
      for (std::size_t k = i; k < turns.size() && turns.at(k) < part.to && !any; ++k) {
        any = works_for_others(turns.event(k));
      }
      if (!any) continue;
      for (Nanos from = part.from; from < part.to;) {
        const bool before_all = turns.at(i) > from;
        const std::size_t next = before_all ? i : i + 1;
        const Nanos to = next < turns.size() ? std::clamp(turns.at(next), from, part.to) : part.to;
        const bool active = !before_all && works_for_others(turns.event(i));
        charge({from, to}, active ? turns.event(i) : own, active ? other : thread, credit, out);
        from = to;
        i = next;
      }
      return;
    }
    charge(part, own, thread, credit, out);
  }

  void charge(Interval part, std::uint32_t event, std::uint32_t thread, Nanos& credit,
              std::vector<GapPiece>& out) {
    const Why why = in_.reasons.of(event);
    const bool plain = why == Why::kHost || why == Why::kLaunch;
    const Nanos owed = plain ? std::min(credit, part.to - part.from) : Nanos{};
    credit -= owed;
    // The place is the call that held the host back, not the work that came late because of it.
    if (owed > Nanos{}) {
      owed_[waited_in_] += owed;
      put({part.from, part.from + owed}, waited_in_, thread, Why::kSync, out);
    }
    if (part.from + owed < part.to) put({part.from + owed, part.to}, event, thread, why, out);
  }

  static void put(Interval part, std::uint32_t event, std::uint32_t thread, Why why,
                  std::vector<GapPiece>& out) {
    if (part.from < part.to) out.push_back({part.from, part.to, why, event, thread});
  }

  const Prepared& in_;
  std::vector<std::vector<std::uint32_t>> working_;  // By process.
  std::uint32_t waited_in_ = kNone;                  // The call whose credit is spent.
  std::vector<Interval> gaps_;                       // Of this device, so far.
  std::unordered_map<std::uint32_t, Nanos> owed_;    // Credit of a call that is spent.
};

// Calls `gap(interval, ending event, event before on its stream)` for each gap of a device.
template <class Gap>
void each_gap(const Prepared& prepared, std::uint32_t device, Gap gap) {
  std::unordered_map<std::uint32_t, std::uint32_t> last;  // Of each stream.
  Nanos busy_until = Nanos::min();
  for (const std::uint32_t i : prepared.devices.of_device(device)) {
    const DeviceEvent& event = prepared.trace.device_events[i];
    if (event.duration == Nanos{}) continue;  // It kept nothing busy, and ends no gap.
    const auto before = last.find(event.stream);
    if (busy_until != Nanos::min() && event.start > busy_until) {
      gap(Interval{busy_until, event.start}, i, before == last.end() ? kNone : before->second);
    }
    busy_until = std::max(busy_until, event.end());
    last[event.stream] = i;
  }
}

// Launches of graphs that show no kernels, by source, in order of start.
std::vector<std::vector<Nanos>> hidden_graphs(const Prepared& in) {
  std::vector<std::vector<Nanos>> hidden(in.trace.sources.size());
  std::vector<bool> shown(in.trace.host_events.size(), false);
  for (const DeviceEvent& event : in.trace.device_events) {
    if (event.launch != kNone) shown[event.launch] = true;
  }
  for (std::uint32_t i = 0; i < in.trace.host_events.size(); ++i) {
    const HostEvent& event = in.trace.host_events[i];
    const bool graph = in.names.api(event) == Api::kLaunch && in.names.is_graph(event);
    if (!graph || shown[i]) continue;
    const std::uint32_t process = in.trace.threads[event.thread].process;
    hidden[in.trace.processes[process].source].push_back(event.start);
  }
  return hidden;
}

// When an event was launched; its start if that is not known.
Nanos launched_at(const Prepared& in, std::uint32_t event) {
  const DeviceEvent& of = in.trace.device_events[event];
  return of.launch == kNone ? of.start : in.trace.host_events[of.launch].start;
}

struct PlaceKey {
  Why why = Why::kUnknown;
  bool launched = false;        // The label is of the event that ended the gap.
  std::uint32_t label = kNone;  // Name.
  std::uint32_t frame = kNone;  // Name.
  friend bool operator==(const PlaceKey&, const PlaceKey&) = default;
};

struct PlaceHash {
  std::size_t operator()(const PlaceKey& key) const {
    std::uint64_t hash = (std::uint64_t{key.label} << 32 | key.frame) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
    return (hash + 2 * at(key.why) + (key.launched ? 1 : 0)) * 0xBF58476D1CE4E5B9;
  }
};

// The name that tells people what ran: of the reason's own event, else of the operator.
std::uint32_t label_of(const Prepared& in, const GapPiece& piece) {
  if (is_named(piece.why)) {
    int levels = 0;
    for (std::uint32_t i = piece.host_event; i != kNone && levels < kDeepest;
         i = in.trace.host_events[i].parent, ++levels) {
      if (in.names.host(in.trace.host_events[i]) == piece.why) return in.trace.host_events[i].name;
    }
  }
  const std::uint32_t work = in.works.of(piece.host_event);
  if (work != kNone) return in.trace.host_events[work].name;
  // A step is where everything happens: it tells nothing.
  if (piece.host_event == kNone || in.names.is_step(in.trace.host_events[piece.host_event])) {
    return kNone;
  }
  return in.trace.host_events[piece.host_event].name;
}

std::string what_of(const model::Trace& trace, const PlaceKey& key) {
  if (key.label == kNone) return "between operators";
  const std::string_view name = TraceNames::without_number(trace.names[key.label]);
  return key.launched ? fmt::format("before {}", name) : std::string(name);
}

DeviceGaps sum_up(const Prepared& prepared, const CodeLines& lines, Explain& explain,
                  std::span<const Nanos> hidden, std::uint32_t device, std::size_t most) {
  DeviceGaps sum;
  explain.start_device();
  Nanos before_gap = Nanos::min();  // When what came before it was launched.
  sum.device = device;
  std::unordered_map<PlaceKey, GapPlace, PlaceHash> places;
  std::vector<GapPiece> pieces;
  Nanos start = Nanos::max();
  Nanos end = Nanos::min();
  for (const std::uint32_t i : prepared.devices.of_device(device)) {
    const DeviceEvent& event = prepared.trace.device_events[i];
    if (event.duration == Nanos{}) continue;
    start = std::min(start, event.start);
    end = std::max(end, event.end());
  }
  if (start < end) sum.span = end - start;
  each_gap(prepared, device, [&](Interval gap, std::uint32_t ending, std::uint32_t before) {
    pieces.clear();
    explain.gap(gap, ending, before, pieces);
    ++sum.gaps;
    sum.idle += gap.to - gap.from;
    sum.longest = std::max(sum.longest, gap.to - gap.from);
    const std::uint32_t launch = prepared.trace.device_events[ending].launch;
    // A graph that was launched in between may have run in the gap.
    const Nanos launched = launched_at(prepared, ending);
    const auto graph = std::ranges::upper_bound(hidden, before_gap);
    before_gap = launched;
    const bool hides = graph != hidden.end() && *graph < launched;
    const bool in_graph =
        hides || (launch != kNone && prepared.names.is_graph(prepared.trace.host_events[launch]));
    for (const GapPiece& piece : pieces) {
      // Compiling and capturing explain an idle device better than nodes that nobody saw.
      if (in_graph && piece.why != Why::kWarmup) sum.in_graphs += piece.to - piece.from;
      sum.by_why[at(piece.why)] += piece.to - piece.from;
      const std::uint32_t label =
          piece.launched ? prepared.trace.device_events[ending].name : label_of(prepared, piece);
      GapPlace& place =
          places[{piece.why, piece.launched, label == kNone ? kNone : prepared.names.label(label),
                  lines.frame(piece.host_event)}];
      place.time += piece.to - piece.from;
      ++place.times;
    }
  });
  sum.busy = sum.span - sum.idle;
  for (auto& [key, place] : places) {
    place.why = key.why;
    place.what = what_of(prepared.trace, key);
    place.line = lines.text(key.frame);
    sum.places.push_back(std::move(place));
  }
  std::ranges::sort(sum.places, [](const GapPlace& a, const GapPlace& b) {
    return std::tie(b.time, a.why, a.what, a.line) < std::tie(a.time, b.why, b.what, b.line);
  });
  if (sum.places.size() > most) sum.places.resize(most);
  return sum;
}

}  // namespace

Prepared::Prepared(const model::Trace& of)
    : trace{of}, names{of}, devices{of}, hosts{of}, reasons{of, names}, works{of, names} {}

std::vector<GapPiece> gap_pieces(const Prepared& prepared, std::uint32_t device) {
  Explain explain(prepared);
  std::vector<GapPiece> pieces;
  each_gap(prepared, device, [&](Interval gap, std::uint32_t ending, std::uint32_t before) {
    explain.gap(gap, ending, before, pieces);
  });
  return pieces;
}

std::vector<DeviceGaps> gaps(const Prepared& prepared, std::size_t places) {
  const CodeLines lines(prepared.trace);
  Explain explain(prepared);
  const std::vector<std::vector<Nanos>> hidden = hidden_graphs(prepared);
  std::vector<DeviceGaps> all;
  for (std::uint32_t device = 0; device < prepared.trace.devices.size(); ++device) {
    if (prepared.devices.of_device(device).empty()) continue;
    const std::uint32_t source = prepared.trace.devices[device].source;
    all.push_back(sum_up(prepared, lines, explain, hidden[source], device, places));
  }
  return all;
}

std::vector<Depth> queue_depth(const Prepared& prepared, std::span<const std::uint32_t> events) {
  std::vector<Depth> changes;
  for (const std::uint32_t i : events) {
    const DeviceEvent& event = prepared.trace.device_events[i];
    if (event.launch == kNone) continue;
    const HostEvent& launch = prepared.trace.host_events[event.launch];
    changes.push_back({std::min(launch.start, event.start), 1});
    changes.push_back({event.start, -1});
  }
  // Among changes of one time what starts leaves first, so that the depth is never overstated.
  std::ranges::sort(changes, [](const Depth& a, const Depth& b) {
    return std::tie(a.at, a.waiting) < std::tie(b.at, b.waiting);
  });
  std::vector<Depth> depths;
  std::int32_t waiting = 0;
  for (const Depth& change : changes) {
    waiting += change.waiting;
    if (!depths.empty() && depths.back().at == change.at) {
      depths.back().waiting = waiting;
    } else {
      depths.push_back({change.at, waiting});
    }
  }
  return depths;
}

}  // namespace amdahl::profile
