#include "profile/captures.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace amdahl::profile {
namespace {

struct Extent {
  Nanos start = Nanos::max();
  Nanos end = Nanos::min();

  bool empty() const { return end < start; }
  void add(Nanos from, Nanos to) {
    start = std::min(start, from);
    end = std::max(end, to);
  }
};

// Which source a row is of.
class Owners {
 public:
  explicit Owners(const model::Trace& trace) : trace_{trace} {}

  std::uint32_t stream(std::uint32_t stream) const {
    if (stream == model::kNone) return model::kNone;
    const std::uint32_t device = trace_.streams[stream].device;
    return device == model::kNone ? model::kNone : trace_.devices[device].source;
  }
  std::uint32_t thread(std::uint32_t thread) const {
    if (thread == model::kNone) return model::kNone;
    const std::uint32_t process = trace_.threads[thread].process;
    return process == model::kNone ? model::kNone : trace_.processes[process].source;
  }

 private:
  const model::Trace& trace_;
};

std::vector<Extent> extents(const model::Trace& trace) {
  const Owners owners(trace);
  std::vector<Extent> all(trace.sources.size());
  const auto add = [&](std::uint32_t source, Nanos from, Nanos to) {
    if (source != model::kNone) all[source].add(from, to);
  };
  for (const auto& row : trace.device_events) add(owners.stream(row.stream), row.start, row.end());
  for (const auto& row : trace.host_events) add(owners.thread(row.thread), row.start, row.end());
  for (const auto& row : trace.thread_spans) {
    add(owners.thread(row.thread), row.start, row.start + row.duration);
  }
  for (const auto& row : trace.samples) add(row.source, row.at, row.at);
  for (const auto& row : trace.stack_samples) add(owners.thread(row.thread), row.at, row.at);
  return all;
}

struct OverlapGroup {
  Extent extent;
  std::vector<std::uint32_t> sources;
};

// In order of time; sources that overlap are in one.
std::vector<OverlapGroup> overlap_groups(const model::Trace& trace) {
  const std::vector<Extent> all = extents(trace);
  std::vector<std::uint32_t> order;
  for (std::uint32_t source = 0; source < all.size(); ++source) {
    if (!all[source].empty()) order.push_back(source);
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t source) { return all[source].start; });
  std::vector<OverlapGroup> found;
  for (const std::uint32_t source : order) {
    if (found.empty() || all[source].start > found.back().extent.end) found.emplace_back();
    found.back().extent.add(all[source].start, all[source].end);
    found.back().sources.push_back(source);
  }
  return found;
}

// A thread as the system numbers it: of process and thread.
using ThreadId = std::pair<std::int64_t, std::int64_t>;

// The threads of each source that show anything: of the others, streams of devices have numbers
// that any job has.
std::vector<std::set<ThreadId>> threads_seen(const model::Trace& trace) {
  std::vector<std::set<ThreadId>> seen(trace.sources.size());
  std::vector<bool> shown(trace.threads.size(), false);
  for (const model::HostEvent& event : trace.host_events) {
    if (event.thread != model::kNone) shown[event.thread] = true;
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i]) continue;
    const model::TraceProcess& process = trace.processes[trace.threads[i].process];
    if (process.source != model::kNone)
      seen[process.source].emplace(process.id, trace.threads[i].id);
  }
  return seen;
}

// The first source that saw the same thread; kNone: none did.
std::uint32_t first_of_series(const model::Trace& trace,
                              const std::vector<std::set<ThreadId>>& threads,
                              const std::vector<OverlapGroup>& found, std::size_t group,
                              std::uint32_t source) {
  const std::set<ThreadId>& own = threads[source];
  const model::TraceSource& later = trace.sources[source];
  for (std::size_t i = 0; i < group; ++i) {
    for (const std::uint32_t other : found[i].sources) {
      const model::TraceSource& first = trace.sources[other];
      if (first.rank != later.rank || first.host != later.host) continue;
      const auto same = [&](const ThreadId& id) { return own.contains(id); };
      if (std::ranges::any_of(threads[other], same)) return other;
    }
  }
  return model::kNone;
}

// Whether only other ranks recorded before.
bool is_another_rank(const model::Trace& trace, const std::vector<OverlapGroup>& found,
                     std::size_t group, std::uint32_t source) {
  const std::int32_t rank = trace.sources[source].rank;
  bool others = false;
  for (std::size_t i = 0; i < group && rank >= 0; ++i) {
    for (const std::uint32_t earlier : found[i].sources) {
      if (trace.sources[earlier].rank == rank) return false;
      others = others || trace.sources[earlier].rank >= 0;
    }
  }
  return others;
}

// `earlier`: by source.
void move(model::Trace& trace, const std::vector<Nanos>& earlier) {
  const Owners owners(trace);
  const auto by = [&](std::uint32_t source) {
    return source == model::kNone ? Nanos{} : earlier[source];
  };
  for (auto& row : trace.device_events) row.start -= by(owners.stream(row.stream));
  for (auto& row : trace.host_events) row.start -= by(owners.thread(row.thread));
  for (auto& row : trace.syncs) row.start -= by(owners.stream(row.stream));
  for (auto& row : trace.flows) {
    row.from -= by(owners.thread(row.from_thread));
    row.to -= by(owners.thread(row.to_thread));
  }
  for (auto& row : trace.samples) row.at -= by(row.source);
  for (auto& row : trace.thread_spans) row.start -= by(owners.thread(row.thread));
  for (auto& row : trace.stack_samples) row.at -= by(owners.thread(row.thread));
  for (auto& row : trace.steps) row.start -= by(owners.thread(row.thread));
  for (std::size_t source = 0; source < trace.sources.size(); ++source) {
    if (trace.sources[source].first_event != Nanos{}) {
      trace.sources[source].first_event -= earlier[source];
    }
  }
}

// Rows that become others: position by position. Rows that no earlier source has stay, as its own.
class Folding {
 public:
  // `into`: by source; a source that stays is its own.
  Folding(model::Trace& trace, const std::vector<std::uint32_t>& into) : trace_{trace} {
    const auto source_of = [&](std::uint32_t source) {
      return source == model::kNone ? source : into[source];
    };
    processes_ = merged(trace.processes, [&](model::TraceProcess& row) {
      row.source = source_of(row.source);
      return std::array<std::int64_t, 3>{row.source, row.id, 0};
    });
    threads_ = merged(trace.threads, [&](model::TraceThread& row) {
      row.process = at(processes_, row.process);
      return std::array<std::int64_t, 3>{row.process, row.id, 0};
    });
    devices_ = merged(trace.devices, [&](model::TraceDevice& row) {
      row.source = source_of(row.source);
      return std::array<std::int64_t, 3>{row.source, row.id, 0};
    });
    streams_ = merged(trace.streams, [&](model::TraceStream& row) {
      row.device = at(devices_, row.device);
      row.process = at(processes_, row.process);
      return std::array<std::int64_t, 3>{row.device, row.process, row.id};
    });
  }

  void apply() {
    for (auto& row : trace_.device_events) row.stream = at(streams_, row.stream);
    for (auto& row : trace_.host_events) row.thread = at(threads_, row.thread);
    for (auto& row : trace_.syncs) {
      row.stream = at(streams_, row.stream);
      row.awaited_stream = at(streams_, row.awaited_stream);
    }
    for (auto& row : trace_.flows) {
      row.from_thread = at(threads_, row.from_thread);
      row.to_thread = at(threads_, row.to_thread);
    }
    for (auto& row : trace_.samples) row.device = at(devices_, row.device);
    for (auto& row : trace_.thread_spans) with_waker(row);
    for (auto& row : trace_.thread_totals) with_waker(row);
    for (auto& row : trace_.stack_samples) row.thread = at(threads_, row.thread);
    for (auto& row : trace_.steps) row.thread = at(threads_, row.thread);
  }

 private:
  using Map = std::vector<std::uint32_t>;

  static std::uint32_t at(const Map& map, std::uint32_t row) {
    return row == model::kNone ? row : map[row];
  }

  template <class Row, class Key>
  static Map merged(std::vector<Row>& rows, Key key) {
    std::map<std::array<std::int64_t, 3>, std::uint32_t> first;
    Map map(rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      map[i] = first.try_emplace(key(rows[i]), i).first->second;
    }
    return map;
  }

  template <class Row>
  void with_waker(Row& row) const {
    row.thread = at(threads_, row.thread);
    row.waker = at(threads_, row.waker);
  }

  model::Trace& trace_;
  Map processes_;
  Map threads_;
  Map devices_;
  Map streams_;
};

}  // namespace

Captures lay_end_to_end(model::Trace& trace) {
  if (trace.sources.size() < 2) return {};
  const std::vector<OverlapGroup> found = overlap_groups(trace);
  if (found.size() < 2) return {};
  const std::vector<std::set<ThreadId>> threads = threads_seen(trace);
  Captures captures;
  captures.count = found.size();
  std::vector<Nanos> earlier(trace.sources.size());
  std::vector<std::uint32_t> into(trace.sources.size());
  std::iota(into.begin(), into.end(), 0U);
  for (std::size_t i = 1; i < found.size(); ++i) {
    captures.left_out += found[i].extent.start - found[i - 1].extent.end;
    captures.cuts.push_back(found[i].extent.start - captures.left_out);
    for (const std::uint32_t source : found[i].sources) {
      if (is_another_rank(trace, found, i, source)) return {};
      earlier[source] = captures.left_out;
      const std::uint32_t first = first_of_series(trace, threads, found, i, source);
      captures.is_series = captures.is_series && first != model::kNone;
      if (first != model::kNone) into[source] = into[first];
    }
  }
  move(trace, earlier);
  if (captures.is_series) Folding(trace, into).apply();
  return captures;
}

}  // namespace amdahl::profile
