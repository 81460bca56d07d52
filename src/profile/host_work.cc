#include "profile/host_work.h"

#include <algorithm>
#include <unordered_map>

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::HostEvent;
using model::HostKind;
using model::kNone;

// Threads that hand over to each other are silent at least this long.
constexpr Nanos kSilence{20'000};
// A launch that takes this long with that many launches ahead of it waits for room in the queue.
constexpr Nanos kLongLaunch{50'000};
constexpr std::ptrdiff_t kFullQueue = 200;
constexpr std::size_t kMostDrivers = 32;

struct ThreadFacts {
  std::vector<std::uint32_t> streams;  // It launched to.
  std::vector<Interval> blocks;        // In operators or calls, short silences included.
  bool drives = false;
  bool is_primary = false;  // The one of its process that others wait for.
};

constexpr std::uint64_t key_of(std::uint32_t source, std::uint32_t correlation) {
  return std::uint64_t{source} << 32 | correlation;
}

bool is_call(const HostEvent& event) {
  return event.kind == HostKind::kRuntime || event.kind == HostKind::kDriver;
}

std::vector<ThreadFacts> thread_facts(const Prepared& in) {
  const model::Trace& trace = in.trace;
  std::vector<ThreadFacts> facts(trace.threads.size());
  std::vector<bool> has_calls(trace.processes.size(), false);
  std::vector<Nanos> active(trace.threads.size());
  for (const HostEvent& event : trace.host_events) {
    // Calls that only ask (cudaEventQuery) are made by threads that watch, all the time.
    const bool asks = is_call(event) && in.names.api(event) == Api::kOther;
    if (is_call(event) && !asks) {
      facts[event.thread].drives = true;
      has_calls[trace.threads[event.thread].process] = true;
    }
    if (asks || in.names.is_silent(event)) continue;
    std::vector<Interval>& blocks = facts[event.thread].blocks;
    if (!blocks.empty() && event.start <= blocks.back().to + kSilence) {
      blocks.back().to = std::max(blocks.back().to, event.end());
    } else {
      blocks.push_back({event.start, event.end()});
    }
  }
  for (const model::Step& step : trace.steps) facts[step.thread].drives = true;
  for (const HostEvent& event : trace.host_events) {
    if (!has_calls[trace.threads[event.thread].process]) facts[event.thread].drives = true;
  }
  for (std::uint32_t i = 0; i < facts.size(); ++i) active[i] = total(facts[i].blocks);
  std::vector<std::uint32_t> primary(trace.processes.size(), kNone);
  for (std::uint32_t i = 0; i < facts.size(); ++i) {
    std::uint32_t& best = primary[trace.threads[i].process];
    if (facts[i].drives && (best == kNone || active[i] > active[best])) best = i;
  }
  for (const model::Step& step : trace.steps) {
    primary[trace.threads[step.thread].process] = step.thread;
  }
  for (const std::uint32_t thread : primary) {
    if (thread != kNone) facts[thread].is_primary = true;
  }
  return facts;
}

void add_streams(const Prepared& in, std::vector<ThreadFacts>& facts) {
  for (const DeviceEvent& event : in.trace.device_events) {
    if (event.launch == kNone || !keeps_busy(event)) continue;
    auto& streams = facts[in.trace.host_events[event.launch].thread].streams;
    if (std::ranges::find(streams, event.stream) == streams.end()) streams.push_back(event.stream);
  }
  // A thread that only waits does so for what the others of its process launched.
  std::vector<std::vector<std::uint32_t>> of_process(in.trace.processes.size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    auto& all = of_process[in.trace.threads[i].process];
    all.insert(all.end(), facts[i].streams.begin(), facts[i].streams.end());
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!facts[i].drives) continue;
    auto& all = of_process[in.trace.threads[i].process];
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    if (facts[i].streams.empty()) facts[i].streams = all;
  }
}

class ThreadWork {
 public:
  ThreadWork(const Prepared& prepared, std::vector<HostWork>& out)
      : in_{prepared}, out_{out}, facts_{thread_facts(in_)}, launched_{launched_by(in_.trace)} {
    add_streams(in_, facts_);
    find_drivers();
    for (const model::SyncEvent& sync : in_.trace.syncs) {
      const bool one =
          sync.kind == model::SyncKind::kStream || sync.kind == model::SyncKind::kEvent;
      const std::uint32_t stream = sync.awaited_stream != kNone ? sync.awaited_stream : sync.stream;
      if (!one || stream == kNone || sync.correlation == 0) continue;
      const std::uint32_t source = in_.trace.devices[in_.trace.streams[stream].device].source;
      synced_[key_of(source, sync.correlation)] = stream;
    }
  }

  void all() {
    for (std::uint32_t thread = 0; thread < facts_.size(); ++thread) {
      if (facts_[thread].drives) of(thread);
    }
  }

 private:
  // The threads that may hand over to each other: of each process the primary first, then the
  // busiest.
  void find_drivers() {
    drivers_.resize(in_.trace.processes.size());
    for (std::uint32_t i = 0; i < facts_.size(); ++i) {
      if (facts_[i].drives) drivers_[in_.trace.threads[i].process].push_back(i);
    }
    for (std::vector<std::uint32_t>& threads : drivers_) {
      std::ranges::stable_sort(threads, std::ranges::greater{}, [&](std::uint32_t i) {
        return std::pair(facts_[i].is_primary, total(facts_[i].blocks));
      });
      if (threads.size() > kMostDrivers) threads.resize(kMostDrivers);
    }
  }

  void of(std::uint32_t thread) {
    const std::span<const Turn> turns = in_.hosts.of(thread);
    first_ = out_.size();
    kept_ = false;
    done_ = Nanos::min();
    if (!turns.empty() && !facts_[thread].is_primary) {
      const Interval before{Nanos::min(), turns.front().at};
      const std::uint32_t waker = last_active(before, thread);
      if (waker != kNone)
        add({before.to, before.to, kNone, thread, kNone, waker, Why::kHost}, true);
    }
    std::uint32_t inside = kNone;  // The call whose rest is accounted for already.
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
      const Turn& turn = turns[i];
      const Nanos to = turns[i + 1].at;
      const std::uint32_t call = call_around(turn.event);
      if (call != kNone) {
        if (call != inside) this->call(call, thread);
        inside = call;
        continue;
      }
      inside = kNone;
      // A silent stretch may go on over several turns.
      std::size_t last = i;
      while (is_open(turns[last].event) && last + 2 < turns.size() &&
             is_open(turns[last + 1].event) &&
             in_.reasons.of(turns[last + 1].event) == in_.reasons.of(turn.event)) {
        ++last;
      }
      if (is_open(turn.event)) {
        silent({turn.at, turns[last + 1].at}, turn.event, thread);
        i = last;
      } else {
        add({turn.at, to, turn.event, thread, kNone, kNone, in_.reasons.of(turn.event)});
      }
    }
  }

  // No operator and no call, and nothing named: Python, or waiting for another thread.
  bool is_open(std::uint32_t event) const {
    if (event != kNone && !in_.names.is_silent(in_.trace.host_events[event])) return false;
    return in_.reasons.of(event) == Why::kHost;
  }

  // The outermost call around an event.
  std::uint32_t call_around(std::uint32_t event) const {
    std::uint32_t found = kNone;
    for (std::uint32_t i = event; i != kNone && is_call(in_.trace.host_events[i]);
         i = in_.trace.host_events[i].parent) {
      found = i;
    }
    return found;
  }

  void call(std::uint32_t call, std::uint32_t thread) {
    const HostEvent& event = in_.trace.host_events[call];
    const Why why = in_.reasons.of(call);
    const std::uint32_t awaited = awaited_by(call, thread);
    if (awaited != kNone) {
      const Nanos from =
          std::clamp(in_.trace.device_events[awaited].end(), event.start, event.end());
      add({from, event.end(), call, thread, awaited, kNone,
           why == Why::kHost || why == Why::kLaunch ? Why::kSync : why});
      return;
    }
    // Launches keep a piece of their own, since device events hang on its beginning.
    const bool own = launched_[call] != kNone;
    add({event.start, event.end(), call, thread, kNone, kNone, why}, own);
  }

  std::uint32_t awaited_by(std::uint32_t call, std::uint32_t thread) const {
    const HostEvent& event = in_.trace.host_events[call];
    const Api api = in_.names.api(event);
    if (api == Api::kSync || api == Api::kFree) {
      const std::uint32_t source = in_.trace.processes[in_.trace.threads[thread].process].source;
      const auto known = synced_.find(key_of(source, event.correlation));
      if (known != synced_.end()) return ended_in(event, std::span(&known->second, 1));
      return ended_in(event, facts_[thread].streams);
    }
    const std::uint32_t own = launched_[call];
    if (own == kNone) return kNone;
    const DeviceEvent& work = in_.trace.device_events[own];
    if (api == Api::kCopy || api == Api::kBlockingCopy) {
      if (work.end() > event.start && work.end() <= event.end()) return own;
    }
    if (event.duration < kLongLaunch || work.start < event.end()) return kNone;
    const auto lane = in_.devices.of_stream(work.stream);
    const auto mine = std::ranges::lower_bound(lane, own);
    const auto running = std::ranges::partition_point(
        lane, [&](std::uint32_t i) { return in_.trace.device_events[i].start <= event.end(); });
    if (mine - running < kFullQueue) return kNone;
    return ended_in(event, std::span(&work.stream, 1));
  }

  // The device event that ended last while the call ran; kNone: none did.
  std::uint32_t ended_in(const HostEvent& call, std::span<const std::uint32_t> streams) const {
    std::uint32_t best = kNone;
    Nanos best_end = call.start;
    for (const std::uint32_t stream : streams) {
      const auto lane = in_.devices.of_stream(stream);
      auto after = std::ranges::partition_point(
          lane, [&](std::uint32_t i) { return in_.trace.device_events[i].start < call.end(); });
      // What still runs at the end was not waited for; before it one must have ended.
      for (int tries = 0; after != lane.begin() && tries < 8; ++tries) {
        --after;
        const Nanos end = in_.trace.device_events[*after].end();
        if (end > call.end()) continue;
        if (end > best_end) {
          best = *after;
          best_end = end;
        }
        break;
      }
    }
    return best;
  }

  void silent(Interval stretch, std::uint32_t event, std::uint32_t thread) {
    const auto own = [&](Nanos from, Nanos to, std::uint32_t handed_by) {
      add({from, to, event, thread, kNone, handed_by, Why::kHost}, handed_by != kNone);
    };
    if (stretch.to - stretch.from < kSilence) return own(stretch.from, stretch.to, kNone);
    if (!facts_[thread].is_primary) {
      // It was asleep: what it does next hangs on the thread that woke it.
      const std::uint32_t waker = last_active(stretch, thread);
      return waker == kNone ? own(stretch.from, stretch.to, kNone)
                            : own(stretch.to, stretch.to, waker);
    }
    for (const std::uint32_t other : drivers_[in_.trace.threads[thread].process]) {
      if (other == thread) continue;
      const Interval active = active_in(stretch, other);
      if (active.from >= active.to) continue;
      const Nanos first = std::max(active.from, stretch.from);
      const Nanos last = std::min(active.to, stretch.to);
      const bool within = active.from > stretch.from && active.to < stretch.to;
      // Threads that work side by side do not wait for each other.
      if (!within && !is_covered({first, stretch.to}, other)) continue;
      own(stretch.from, first, kNone);
      return own(last, stretch.to, other);
    }
    own(stretch.from, stretch.to, kNone);
  }

  // Whether a thread was at work for most of a time.
  bool is_covered(Interval time, std::uint32_t thread) const {
    const std::vector<Interval>& blocks = facts_[thread].blocks;
    auto block =
        std::ranges::partition_point(blocks, [&](const Interval& b) { return b.to <= time.from; });
    Nanos covered{};
    for (; block != blocks.end() && block->from < time.to; ++block) {
      covered += std::min(block->to, time.to) - std::max(block->from, time.from);
    }
    return covered * 5 >= (time.to - time.from) * 4;
  }

  // From the first to the last that a thread did in a stretch; empty if it did nothing.
  Interval active_in(Interval stretch, std::uint32_t thread) const {
    const std::vector<Interval>& blocks = facts_[thread].blocks;
    const auto begin = std::ranges::partition_point(
        blocks, [&](const Interval& block) { return block.to <= stretch.from; });
    const auto end = std::ranges::partition_point(
        blocks, [&](const Interval& block) { return block.from < stretch.to; });
    if (begin >= end) return {};
    return {begin->from, (end - 1)->to};
  }

  // The thread of the same process that was active last in the stretch.
  std::uint32_t last_active(Interval stretch, std::uint32_t thread) const {
    std::uint32_t best = kNone;
    Nanos best_end = stretch.from;
    for (const std::uint32_t other : drivers_[in_.trace.threads[thread].process]) {
      if (other == thread) continue;
      const Interval active = active_in(stretch, other);
      const Nanos end = std::min(active.to, stretch.to);
      if (active.from < active.to && end > best_end) {
        best = other;
        best_end = end;
      }
    }
    return best;
  }

  // Joins a piece to the one before it if both are the same work of one operator.
  void add(HostWork work, bool keep = false) {
    // Where events overlap without one holding the other, what came first has its time.
    work.from = std::max(work.from, done_);
    if (work.to < work.from) return;
    done_ = work.to;
    if (!keep && work.awaits == kNone && out_.size() > first_ && !kept_) {
      HostWork& last = out_.back();
      if (last.to == work.from && last.why == work.why && same_work(last.event, work.event)) {
        last.to = work.to;
        return;
      }
    }
    out_.push_back(work);
    kept_ = keep;
  }

  bool same_work(std::uint32_t a, std::uint32_t b) const {
    return a == b || work_of(a) == work_of(b);
  }

  std::uint32_t work_of(std::uint32_t event) const {
    return outermost_work(in_.trace, in_.names, event);
  }

  const Prepared& in_;
  std::vector<HostWork>& out_;
  std::vector<ThreadFacts> facts_;
  std::vector<std::vector<std::uint32_t>> drivers_;  // By process.
  std::vector<std::uint32_t> launched_;
  std::unordered_map<std::uint64_t, std::uint32_t> synced_;  // Stream, by source and correlation.
  std::size_t first_ = 0;
  bool kept_ = false;
  Nanos done_{};  // What the thread did until then is accounted for.
};

}  // namespace

std::vector<std::uint32_t> launched_by(const model::Trace& trace) {
  std::vector<std::uint32_t> launched(trace.host_events.size(), kNone);
  for (std::uint32_t i = 0; i < trace.device_events.size(); ++i) {
    const DeviceEvent& event = trace.device_events[i];
    if (event.launch == kNone || !keeps_busy(event)) continue;
    // A call of the driver inside one of the runtime: both launched it.
    for (std::uint32_t call = event.launch; call != kNone && is_call(trace.host_events[call]);
         call = trace.host_events[call].parent) {
      launched[call] = i;
    }
  }
  return launched;
}

std::vector<HostWork> host_work(const Prepared& prepared) {
  std::vector<HostWork> works;
  ThreadWork(prepared, works).all();
  return works;
}

}  // namespace amdahl::profile
