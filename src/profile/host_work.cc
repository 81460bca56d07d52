#include "profile/host_work.h"

#include <algorithm>
#include <map>

#include "profile/awaits.h"
#include "profile/busy.h"
#include "profile/usual_lags.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::HostEvent;
using model::HostKind;
using model::kNone;

// Threads that hand over to each other are silent at least this long.
constexpr Nanos kSilence{20'000};
constexpr std::size_t kMostDrivers = 32;
// A call of the driver inside one of the runtime, and perhaps inside another library's.
constexpr int kCallsInCalls = 8;

struct HostWork {
  Nanos from{};
  Nanos to{};
  std::uint32_t event = kNone;  // Of host_events.
  std::uint32_t thread = kNone;
  std::uint32_t handed_by = kNone;
  std::uint32_t first_await = 0;
  std::uint32_t awaits = 0;
  Why why = Why::kHost;
};

struct ThreadFacts {
  std::vector<std::uint32_t> streams;  // It launched to.
  std::vector<Interval> blocks;        // In operators or calls, short silences included.
  bool drives = false;
  bool is_primary = false;  // The one of its process that others wait for.
};

std::vector<ThreadFacts> thread_facts(const Prepared& in) {
  const model::Trace& trace = in.trace;
  std::vector<ThreadFacts> facts(trace.threads.size());
  std::vector<bool> has_calls(trace.processes.size(), false);
  std::vector<bool> has_work(trace.processes.size(), false);
  std::vector<bool> source_calls(trace.sources.size(), false);
  std::vector<Nanos> active(trace.threads.size());
  for (const HostEvent& event : trace.host_events) {
    // Calls that only ask (cudaEventQuery) are made by threads that watch, all the time.
    const bool asks = is_call(event) && in.names.api(event) == Api::kOther;
    if (is_call(event) && !asks) {
      facts[event.thread].drives = true;
      has_calls[trace.threads[event.thread].process] = true;
      source_calls[trace.processes[trace.threads[event.thread].process].source] = true;
    }
    // A collective on the host is written as a range, and is work of the thread that shows it.
    const bool talks = in.names.host(event) == Why::kComm;
    if (asks || (in.names.is_silent(event) && !talks)) continue;
    has_work[trace.threads[event.thread].process] = true;
    std::vector<Interval>& blocks = facts[event.thread].blocks;
    if (!blocks.empty() && event.start <= blocks.back().to + kSilence) {
      blocks.back().to = std::max(blocks.back().to, event.end());
    } else {
      blocks.push_back({event.start, event.end()});
    }
  }
  for (const model::Step& step : trace.steps) facts[step.thread].drives = true;
  for (const HostEvent& event : trace.host_events) {
    const std::uint32_t process = trace.threads[event.thread].process;
    // Threads that the profiler lost track of are a process of their own with nothing but Python.
    const bool counts = has_work[process] || !source_calls[trace.processes[process].source];
    if (!has_calls[process] && counts) facts[event.thread].drives = true;
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

// Gives the streams that each process launched to.
std::vector<std::vector<std::uint32_t>> add_streams(const Prepared& in,
                                                    std::vector<ThreadFacts>& facts) {
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
  for (std::vector<std::uint32_t>& all : of_process) {
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
  }
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (!facts[i].drives || !facts[i].streams.empty()) continue;
    facts[i].streams = of_process[in.trace.threads[i].process];
  }
  return of_process;
}

class ThreadWork {
 public:
  ThreadWork(const Prepared& prepared, const StreamOrder& order, std::vector<Work>& works,
             HostWaits& waits)
      : in_{prepared},
        out_{works},
        needs_{waits.needs},
        facts_{thread_facts(in_)},
        streams_{add_streams(in_, facts_)},
        launched_{launched_by(in_.trace)},
        awaits_{in_, order, launched_, waits.awaits} {
    find_drivers();
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
    const Turns turns = in_.hosts.of(thread);
    first_ = out_.size();
    kept_ = false;
    done_ = Nanos::min();
    if (!turns.empty() && !facts_[thread].is_primary) {
      const Interval before{Nanos::min(), turns.at(0)};
      const std::uint32_t waker = last_active(before, thread);
      if (waker != kNone) add({before.to, before.to, kNone, thread, waker}, true);
    }
    std::uint32_t inside = kNone;  // The call that is already accounted for to its end.
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
      const Turn turn = turns[i];
      const std::uint32_t call = call_around(turn.event);
      if (call != kNone) {
        if (call != inside) this->call(call, thread);
        inside = call;
        continue;
      }
      inside = kNone;
      // A silent stretch may go on over several turns.
      std::size_t last = i;
      while (is_open(turns.event(last)) && last + 2 < turns.size() &&
             is_open(turns.event(last + 1)) &&
             in_.reasons.of(turns.event(last + 1)) == in_.reasons.of(turn.event)) {
        ++last;
      }
      if (is_open(turn.event)) {
        silent({turn.at, turns.at(last + 1)}, most_of(turns.part(i, last + 2 - i)), thread);
        i = last;
      } else {
        add({.from = turn.at,
             .to = turns.at(i + 1),
             .event = turn.event,
             .thread = thread,
             .why = in_.reasons.of(turn.event)});
      }
    }
  }

  // No operator and no call, and nothing named: Python, or waiting for another thread.
  bool is_open(std::uint32_t event) const {
    if (event != kNone && !in_.names.is_silent(in_.trace.host_events[event])) return false;
    return in_.reasons.of(event) == Why::kHost;
  }

  // What a silent stretch went to: the innermost event around more than half of it, by looking at
  // a few moments. The last turn is where the stretch ends.
  std::uint32_t most_of(const Turns& turns) const {
    constexpr int kMoments = 16;
    const Nanos from = turns.at(0);
    const Nanos length = turns.at(turns.size() - 1) - from;
    if (turns.size() <= 2 || length < kSilence) return turns.event(0);
    std::map<std::uint32_t, int> around;
    for (int moment = 0; moment < kMoments; ++moment) {
      // A file that lies may be decades long: in two parts, so that neither overflows.
      const int part = 2 * moment + 1;
      const Nanos at =
          from + length / (2 * kMoments) * part + length % (2 * kMoments) * part / (2 * kMoments);
      int levels = 0;
      for (std::uint32_t i = turns.event(turns.holding(at)); i != kNone && levels < kDeepest;
           ++levels) {
        ++around[i];
        i = in_.trace.host_events[i].parent;
      }
    }
    std::uint32_t best = kNone;
    for (const auto& [event, times] : around) {
      if (times * 2 <= kMoments) continue;
      const Nanos duration = in_.trace.host_events[event].duration;
      if (best == kNone || duration <= in_.trace.host_events[best].duration) best = event;
    }
    return best;
  }

  // The outermost call around an event.
  std::uint32_t call_around(std::uint32_t event) const {
    std::uint32_t found = kNone;
    int levels = 0;
    for (std::uint32_t i = event;
         i != kNone && is_call(in_.trace.host_events[i]) && levels < kCallsInCalls;
         i = in_.trace.host_events[i].parent, ++levels) {
      found = i;
    }
    return found;
  }

  void call(std::uint32_t call, std::uint32_t thread) {
    const HostEvent& event = in_.trace.host_events[call];
    const Why why = in_.reasons.of(call);
    HostWork work{.from = event.start, .to = event.end(), .event = call, .thread = thread};
    // Launches keep a piece of their own, since device events hang on its beginning.
    const bool own = launched_[call] != kNone;
    if (own && out_.size() == first_) add(HostWork{event.start, event.start, call, thread}, true);
    const Awaits::Found found =
        awaits_.of(call, {facts_[thread].streams, streams_[in_.trace.threads[thread].process]});
    work.from = found.until;
    work.first_await = found.first;
    work.awaits = found.count;
    work.why = found.waits && (why == Why::kHost || why == Why::kLaunch) ? Why::kSync : why;
    if (own && why == Why::kWarmup) {
      // It loads, and launches at its end: that is a piece of its own for the same reason.
      const Nanos begun = in_.trace.device_events[launched_[call]].start;
      HostWork loads = work;
      loads.to = std::clamp(std::min(begun, work.to) - kUsualLaunch, work.from, work.to);
      add(loads, true);
      work = {
          .from = loads.to, .to = work.to, .event = call, .thread = thread, .why = Why::kLaunch};
    }
    add(work, own);
  }

  void silent(Interval stretch, std::uint32_t event, std::uint32_t thread) {
    const auto own = [&](Nanos from, Nanos to, std::uint32_t handed_by) {
      add({from, to, event, thread, handed_by}, handed_by != kNone);
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
    return time.to - time.from - covered <= (time.to - time.from) / 5;
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
    if (!keep && work.awaits == 0 && out_.size() > first_ && !kept_) {
      Work& last = out_.back();
      if (last.to == work.from && last.why == work.why && same_work(last.event, work.event)) {
        last.to = work.to;
        return;
      }
    }
    out_.push_back({.from = work.from,
                    .to = work.to,
                    .event = work.event,
                    .lane = work.thread,
                    .why = work.why});
    if (work.awaits > 0 || work.handed_by != kNone) {
      out_.back().first_need = static_cast<std::uint32_t>(needs_.size());
      needs_.push_back({work.handed_by, work.first_await, work.awaits});
    }
    kept_ = keep;
  }

  bool same_work(std::uint32_t a, std::uint32_t b) const {
    return a == b || work_of(a) == work_of(b);
  }

  std::uint32_t work_of(std::uint32_t event) const { return in_.works.of(event); }

  const Prepared& in_;
  std::vector<Work>& out_;
  std::vector<HostNeeds>& needs_;
  std::vector<ThreadFacts> facts_;
  std::vector<std::vector<std::uint32_t>> streams_;  // By process.
  std::vector<std::vector<std::uint32_t>> drivers_;  // By process.
  std::vector<std::uint32_t> launched_;
  Awaits awaits_;
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
    int levels = 0;
    for (std::uint32_t call = event.launch;
         call != kNone && is_call(trace.host_events[call]) && levels < kCallsInCalls;
         call = trace.host_events[call].parent, ++levels) {
      launched[call] = i;
    }
  }
  return launched;
}

HostWaits add_host_work(const Prepared& prepared, const StreamOrder& order,
                        std::vector<Work>& works) {
  HostWaits waits;
  ThreadWork(prepared, order, works, waits).all();
  return waits;
}

}  // namespace amdahl::profile
