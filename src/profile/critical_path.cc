#include "profile/critical_path.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace amdahl::profile {
namespace {

using model::HostEvent;
using model::kNone;

// Why the time between the end of what was needed and the start went by.
Why lag_why(NeedKind need, const Work& work) {
  switch (need) {
    case NeedKind::kLaunch:
      return Why::kLaunch;
    case NeedKind::kBacklog:
      return Why::kUnknown;
    case NeedKind::kOrder:
      return work.on_device() ? Why::kQueue : Why::kUnknown;
    case NeedKind::kStreamWait:
    case NeedKind::kRelease:
    case NeedKind::kRoom:
      return Why::kQueue;
    case NeedKind::kWait:
      return Why::kSync;
    case NeedKind::kHandOver:
      return Why::kHost;
    case NeedKind::kCollective:
      return Why::kComm;
  }
  return Why::kUnknown;
}

// Of all, or of what devices did.
std::uint32_t last_work(const WorkGraph& graph, bool on_device) {
  std::uint32_t last = kNone;
  for (std::uint32_t i = 0; i < graph.works.size(); ++i) {
    if (on_device && (!graph.works[i].on_device() || graph.works[i].lane == kNone)) continue;
    if (last == kNone || graph.works[i].to > graph.works[last].to) last = i;
  }
  return last;
}

// What it waited for longest; of equals the one that is not just the lane's order.
const Need* binding(const WorkGraph& graph, const Work& work) {
  const Need* best = nullptr;
  for (const Need& need : graph.needs_of(work)) {
    const Nanos ready = graph.works[need.work].to + need.lag;
    if (best == nullptr || ready >= graph.works[best->work].to + best->lag) best = &need;
  }
  return best;
}

// A work of the path, and how it needed the one before.
struct Link {
  std::uint32_t work = kNone;
  NeedKind need = NeedKind::kOrder;  // Of the last link it says nothing.
};

// From `last` to the beginning.
void follow(const WorkGraph& graph, std::uint32_t last, std::vector<Link>& links) {
  for (std::uint32_t i = last; i != kNone;) {
    const Need* need = binding(graph, graph.works[i]);
    links.push_back({i, need == nullptr ? NeedKind::kOrder : need->kind});
    i = need == nullptr ? kNone : need->work;
  }
}

Nanos device_work(const WorkGraph& graph, const std::vector<Link>& links) {
  Nanos sum{};
  for (const Link& link : links) {
    const Work& work = graph.works[link.work];
    if (work.on_device()) sum += work.to - work.from;
  }
  return sum;
}

// The part of the wall time that may come after the last work of devices, and before the first.
constexpr int kSmallFraction = 20;

// From the end to the beginning. A host that is ahead of a busy device need not wait for it in a
// call that the trace shows, and then ends a little later than the device by itself: of the chain
// that ends with the host and the one that ends with the device, both of which cover the wall time,
// the one in which devices work longer is what the time consists of. A host that is late is found
// all the same, since what it launched waited for it.
std::vector<Link> links_of(const WorkGraph& graph) {
  std::vector<Link> links;
  const std::uint32_t last = last_work(graph, false);
  follow(graph, last, links);
  const std::uint32_t device = last_work(graph, true);
  if (device == kNone || graph.works[last].on_device()) return links;
  const Nanos most = (graph.to - graph.from) / kSmallFraction;
  const Nanos done = graph.works[device].to;
  if (graph.to - done > most) return links;
  std::vector<Link> other;
  for (const Link& link : links) {
    if (graph.works[link.work].to <= done) break;
    other.push_back(link);
  }
  follow(graph, device, other);
  const bool is_whole = graph.works[other.back().work].from - graph.from <= most;
  return is_whole && device_work(graph, other) > device_work(graph, links) ? other : links;
}

void push(std::vector<PathSegment>& segments, PathSegment segment) {
  if (segment.from >= segment.to) return;
  if (!segments.empty()) {
    // Walking backwards: what came later stands at the end.
    PathSegment& later = segments.back();
    if (later.from == segment.to && later.why == segment.why && later.event == segment.event &&
        later.lane == segment.lane && later.on_device == segment.on_device) {
      later.from = segment.from;
      return;
    }
  }
  segments.push_back(segment);
}

std::vector<PathSegment> segments_of(const std::vector<Work>& works, Nanos from,
                                     const std::vector<Link>& links) {
  std::vector<PathSegment> segments;
  segments.reserve(2 * links.size());  // What is not written to takes no memory.
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Work& work = works[links[i].work];
    const bool first = i + 1 == links.size();
    const Nanos before = first ? from : works[links[i + 1].work].to;
    // The host's work after the last of a device may have begun before that ended.
    const Nanos start = std::max(before, work.from);
    push(segments, {start, work.to, work.why, work.event, work.lane, work.on_device()});
    push(segments, {before, start, first ? Why::kUnknown : lag_why(links[i].need, work),
                    first ? kNone : work.event, work.lane, work.on_device()});
  }
  std::ranges::reverse(segments);
  return segments;
}

// A device that is idle for less than this part of the wall time is what that consists of.
constexpr int kHardlyIdle = 20;

// The device that is busiest, if it is hardly ever idle; kNone: none is.
std::uint32_t saturated(const Prepared& in, Nanos wall) {
  std::vector<Nanos> busy(in.trace.devices.size());
  for (std::uint32_t device = 0; device < busy.size(); ++device) {
    Nanos until = Nanos::min();
    for (const std::uint32_t i : in.devices.of_device(device)) {
      const model::DeviceEvent& event = in.trace.device_events[i];
      if (event.end() <= until) continue;
      busy[device] += event.end() - std::max(event.start, until);
      until = event.end();
    }
  }
  const auto most = std::ranges::max_element(busy);
  if (most == busy.end() || *most < wall - wall / kHardlyIdle) return kNone;
  return static_cast<std::uint32_t>(most - busy.begin());
}

// What a device did, one after the other, and why it was idle in between; in order of time.
std::vector<PathSegment> device_segments(const Prepared& in, std::uint32_t device, Nanos shift) {
  std::vector<PathSegment> segments;
  Nanos until = Nanos::min();
  for (const std::uint32_t i : in.devices.of_device(device)) {
    const model::DeviceEvent& event = in.trace.device_events[i];
    if (event.end() <= until) continue;
    segments.push_back({std::max(event.start, until) - shift, event.end() - shift,
                        in.names.device(event), i, event.stream, true});
    until = event.end();
  }
  for (const GapPiece& piece : gap_pieces(in, device)) {
    segments.push_back(
        {piece.from - shift, piece.to - shift, piece.why, piece.host_event, piece.thread, false});
  }
  std::erase_if(segments, [](const PathSegment& segment) { return segment.from >= segment.to; });
  std::ranges::stable_sort(segments, {}, &PathSegment::from);
  return segments;
}

// Streams of one device take turns, and no event says which waited for which: a chain along what is
// recorded may lead through the host all the time while the device is never idle. Then the time
// consists of what the device did; before its first event and after its last, of the chain.
std::vector<PathSegment> through_device(const Prepared& in, std::vector<PathSegment> chain,
                                        const std::vector<Nanos>& shifts) {
  if (chain.empty()) return chain;
  const Nanos wall = chain.back().to - chain.front().from;
  Nanos on_device{};
  for (const PathSegment& segment : chain) {
    const bool works =
        segment.on_device &&
        (segment.why == Why::kKernel || segment.why == Why::kCopy || segment.why == Why::kComm);
    if (works) on_device += segment.to - segment.from;
  }
  const std::uint32_t device = on_device > wall / 2 ? kNone : saturated(in, wall);
  if (device == kNone) return chain;
  const std::vector<PathSegment> own =
      device_segments(in, device, shifts[in.trace.devices[device].source]);
  std::vector<PathSegment> path;
  const auto part = [&](Nanos from, Nanos to) {
    for (PathSegment segment : chain) {
      segment.from = std::max(segment.from, from);
      segment.to = std::min(segment.to, to);
      if (segment.from < segment.to) path.push_back(segment);
    }
  };
  part(chain.front().from, own.front().from);
  path.insert(path.end(), own.begin(), own.end());
  part(own.back().to, chain.back().to);
  return path;
}

struct StepKey {
  Why why = Why::kUnknown;
  bool before = false;  // The name is of what began afterwards.
  std::uint32_t name = kNone;
  std::uint32_t frame = kNone;
  friend bool operator==(const StepKey&, const StepKey&) = default;
};

struct KeyHash {
  std::size_t operator()(const StepKey& key) const {
    std::uint64_t hash = (std::uint64_t{key.name} << 32 | key.frame) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
    return (hash + 2 * at(key.why) + (key.before ? 1 : 0)) * 0xBF58476D1CE4E5B9;
  }
};

// Sums a path by what ran where, so that nothing is charged with time in which it did not run.
class Shares {
 public:
  Shares(const Prepared& in, const std::vector<Nanos>& shifts) : in_{in}, shifts_{shifts} {}

  void add(const PathSegment& segment) {
    if (segment.event == kNone || segment.lane == kNone) {
      put({.why = segment.why}, segment.to - segment.from);
    } else if (segment.on_device) {
      const model::DeviceEvent& event = in_.trace.device_events[segment.event];
      const Nanos began =
          event.start - shifts_[in_.trace.devices[in_.trace.device_of(event)].source];
      put({segment.why, segment.from < began, event.name, kNone}, segment.to - segment.from);
    } else {
      add_host(segment);
    }
  }

  std::vector<PathShare> longest(std::size_t most) const {
    std::vector<PathShare> shares;
    for (const auto& [key, sum] : sums_) {
      PathShare share = sum;
      share.why = key.why;
      share.what = what_of(key);
      share.line = lines_.text(key.frame);
      shares.push_back(std::move(share));
    }
    std::ranges::sort(shares, [](const PathShare& a, const PathShare& b) {
      return std::tie(b.time, a.why, a.what, a.line) < std::tie(a.time, b.why, b.what, b.line);
    });
    if (shares.size() > most) shares.resize(most);
    return shares;
  }

 private:
  // A piece of host work may span several operators and functions: each has its own part of it.
  void add_host(const PathSegment& segment) {
    const Nanos shift =
        shifts_[in_.trace.processes[in_.trace.threads[segment.lane].process].source];
    const Turns turns = in_.hosts.of(segment.lane);
    const Nanos to = segment.to + shift;
    std::size_t i = turns.empty() ? 0 : turns.holding(segment.from + shift);
    for (Nanos from = segment.from + shift; from < to;) {
      const bool before_all = turns.empty() || turns.at(i) > from;
      const std::size_t next = before_all ? i : i + 1;
      const Nanos until = next < turns.size() ? std::min(turns.at(next), to) : to;
      put(key_of(segment.why, before_all ? kNone : turns.event(i)), until - from);
      from = until;
      i = next;
    }
  }

  StepKey key_of(Why why, std::uint32_t event) const {
    StepKey key{.why = why};
    if (event == kNone) return key;
    const std::uint32_t work = in_.works.of(event);
    const HostEvent& named = in_.trace.host_events[work == kNone ? event : work];
    if (!in_.names.is_step(named)) key.name = in_.names.label(named.name);
    key.frame = lines_.frame(event);
    return key;
  }

  std::string what_of(const StepKey& key) const {
    if (key.name == kNone)
      return key.why == Why::kUnknown ? "nothing recorded" : "between operators";
    const std::string_view name = TraceNames::without_number(in_.trace.names[key.name]);
    return key.before ? fmt::format("before {}", name) : std::string(name);
  }

  void put(const StepKey& key, Nanos time) {
    PathShare& share = sums_[key];
    share.time += time;
    ++share.times;
  }

  const Prepared& in_;
  const std::vector<Nanos>& shifts_;  // By source.
  const CodeLines lines_{in_.trace};
  std::unordered_map<StepKey, PathShare, KeyHash> sums_;
};

}  // namespace

std::vector<PathSegment> path_segments(const WorkGraph& graph) {
  return segments_of(graph.works, graph.from, links_of(graph));
}

CriticalPath critical_path(const Prepared& prepared, WorkGraph graph, std::size_t shares) {
  CriticalPath path;
  path.from = graph.from;
  path.to = graph.to;
  const std::vector<Link> links = links_of(graph);
  graph.needs = std::vector<Need>();
  path.segments =
      through_device(prepared, segments_of(graph.works, graph.from, links), graph.shifts);
  graph.works = std::vector<Work>();
  for (const PathSegment& segment : path.segments) {
    path.by_why[at(segment.why)] += segment.to - segment.from;
  }
  Shares sums(prepared, graph.shifts);
  for (const PathSegment& segment : path.segments) sums.add(segment);
  path.shares = sums.longest(shares);
  return path;
}

std::array<Nanos, kWhys> path_within(const CriticalPath& path, Nanos from, Nanos to) {
  std::array<Nanos, kWhys> sums{};
  auto segment = std::ranges::partition_point(path.segments,
                                              [&](const PathSegment& s) { return s.to <= from; });
  for (; segment != path.segments.end() && segment->from < to; ++segment) {
    sums[at(segment->why)] += std::min(segment->to, to) - std::max(segment->from, from);
  }
  return sums;
}

Nanos device_time(const std::array<Nanos, kWhys>& by_why) {
  return by_why[at(Why::kKernel)] + by_why[at(Why::kCopy)] + by_why[at(Why::kComm)];
}

}  // namespace amdahl::profile
