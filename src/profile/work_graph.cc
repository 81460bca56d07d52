#include "profile/work_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "profile/host_work.h"
#include "profile/usual_lags.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::HostEvent;
using model::kNone;

// So many are counted of one work; of more ranks than that the first to come are.
constexpr std::uint16_t kMostNeeds = 0xFFFF;

class Assemble {
 public:
  Assemble(const Prepared& prepared, const GraphInputs& inputs)
      : in_{prepared},
        inputs_{inputs},
        order_{prepared.trace, prepared.devices},
        usual_{usual_lags(prepared, order_)} {
    graph_.shifts = inputs.shifts;
    graph_.shifts.resize(in_.trace.sources.size());
    streams_of_.resize(in_.trace.devices.size());
    for (std::uint32_t stream = 0; stream < in_.trace.streams.size(); ++stream) {
      streams_of_[in_.trace.streams[stream].device].push_back(stream);
    }
  }

  WorkGraph run() {
    // What is not written to takes no memory, and a longer list has not to be copied.
    graph_.works.reserve(in_.trace.device_events.size() + in_.hosts.size());
    add_devices();
    add_hosts();
    sort();
    graph_.needs.reserve(graph_.works.size() * 2);
    find_needs();
    for (const Work& work : graph_.works) {
      if (&work == graph_.works.data() || work.to > graph_.to) graph_.to = work.to;
    }
    if (!graph_.works.empty()) graph_.from = graph_.works.front().from;
    return std::move(graph_);
  }

 private:
  using Role = WorkRole;

  Nanos shift_of(const DeviceEvent& event) const {
    return graph_.shifts[in_.trace.devices[in_.trace.streams[event.stream].device].source];
  }
  Nanos shift_of_thread(std::uint32_t thread) const {
    return graph_.shifts[in_.trace.processes[in_.trace.threads[thread].process].source];
  }

  // `of`: of the collectives, for those that are made of one.
  void add(const Work& work, std::uint32_t of = kNone) {
    graph_.works.push_back(work);
    graph_.works.back().first_need = of;
  }

  void add_devices() {
    std::vector<std::uint32_t> collective;
    if (!inputs_.collectives.empty()) collective.assign(in_.trace.device_events.size(), kNone);
    for (std::uint32_t c = 0; c < inputs_.collectives.size(); ++c) {
      for (const std::uint32_t event : inputs_.collectives[c].events) collective[event] = c;
    }
    std::vector<Nanos> busy_until(in_.trace.streams.size(), Nanos::min());
    for (std::uint32_t i = 0; i < in_.trace.device_events.size(); ++i) {
      const DeviceEvent& event = in_.trace.device_events[i];
      if (!keeps_busy(event)) continue;
      const Nanos from = event.start - shift_of(event);
      Work work{.from = from,
                .to = from + event.duration,
                .event = i,
                .lane = event.stream,
                .why = in_.names.device(event),
                .role = Role::kPlain};
      const Nanos before = std::max(from, busy_until[event.stream]);
      busy_until[event.stream] = std::max(before, work.to);
      if (collective.empty() || collective[i] == kNone) {
        // Kernels of one stream may begin while the one before them ends (programmatic launch):
        // they follow it all the same. Those that lie beside it, as nodes of a graph do, do not.
        if (before - from <= event.duration / 2) work.from = before;
        add(work);
        continue;
      }
      Work arrival = work;
      arrival.to = from;
      arrival.role = Role::kArrival;
      add(arrival, collective[i]);
      work.from = std::min(work.to, last_arrival(collective[i]));
      work.role = Role::kTransfer;
      add(work, collective[i]);
    }
    for (std::uint32_t c = 0; c < inputs_.collectives.size(); ++c) {
      const std::uint32_t first = inputs_.collectives[c].events.front();
      const Nanos at = last_arrival(c);
      add({.from = at, .to = at, .event = first, .why = Why::kComm, .role = Role::kHub}, c);
    }
  }

  Nanos last_arrival(std::uint32_t collective) const {
    Nanos last = Nanos::min();
    for (const std::uint32_t i : inputs_.collectives[collective].events) {
      const DeviceEvent& event = in_.trace.device_events[i];
      last = std::max(last, event.start - shift_of(event));
    }
    return last;
  }

  void add_hosts() {
    const std::size_t first = graph_.works.size();
    waits_ = add_host_work(in_, order_, graph_.works);
    for (std::size_t i = first; i < graph_.works.size(); ++i) {
      const Nanos shift = shift_of_thread(graph_.works[i].lane);
      graph_.works[i].from -= shift;
      graph_.works[i].to -= shift;
    }
  }

  // Where times are equal: what takes no time first, then devices, then as they were added, which
  // puts arrivals before their hub.
  void sort() {
    std::vector<std::uint32_t> order(graph_.works.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t i) {
      const Work& work = graph_.works[i];
      return std::tuple(work.from, work.to, !work.on_device(), i);
    };
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const Nanos from_a = graph_.works[a].from;
      const Nanos from_b = graph_.works[b].from;
      return from_a != from_b ? from_a < from_b : key(a) < key(b);
    });
    // In place: a copy of all works would be the most memory that is ever held.
    for (std::uint32_t first = 0; first < order.size(); ++first) {
      if (order[first] == first) continue;
      const Work work = graph_.works[first];
      std::uint32_t to = first;
      for (std::uint32_t from = order[to]; from != first; from = order[to]) {
        graph_.works[to] = graph_.works[from];
        order[to] = to;
        to = from;
      }
      graph_.works[to] = work;
      order[to] = to;
    }
  }

  // Room for the works of each lane, which are found one by one.
  void count_works() {
    of_stream_.assign(in_.trace.streams.size(), {});
    of_thread_.resize(in_.trace.threads.size());
    std::vector<std::size_t> on_streams(of_stream_.size());
    std::vector<std::size_t> on_threads(of_thread_.size());
    for (const Work& work : graph_.works) {
      if (work.lane != kNone) ++(work.on_device() ? on_streams : on_threads)[work.lane];
    }
    for (std::size_t i = 0; i < on_streams.size(); ++i) of_stream_[i].reserve(on_streams[i]);
    for (std::size_t i = 0; i < on_threads.size(); ++i) of_thread_[i].reserve(on_threads[i]);
  }

  void find_needs() {
    count_works();
    latest_.assign(in_.trace.streams.size(), kNone);
    of_event_.assign(in_.trace.device_events.size(), kNone);
    arrivals_.resize(inputs_.collectives.size());
    hubs_.assign(inputs_.collectives.size(), kNone);
    for (std::uint32_t i = 0; i < graph_.works.size(); ++i) {
      const std::uint32_t of = std::exchange(graph_.works[i].first_need,
                                             static_cast<std::uint32_t>(graph_.needs.size()));
      switch (graph_.works[i].role) {
        case Role::kPlain:
        case Role::kArrival:
          device_needs(i);
          break;
        case Role::kTransfer:
          transfer_needs(i, hubs_[of]);
          break;
        case Role::kHub:
          for (const std::uint32_t arrival : arrivals_[of]) {
            need(i, arrival, NeedKind::kCollective, Nanos{});
          }
          hubs_[of] = i;
          break;
        case Role::kHost:
          host_needs(i, of == kNone ? HostNeeds{} : waits_.needs[of]);
          break;
      }
      after_cut(i);
      settle(i);
      keep(i, of);
    }
  }

  // Where captures were laid end to end, what needs nothing of its own needs all that was before.
  void after_cut(std::uint32_t i) {
    const Work& work = graph_.works[i];
    while (next_cut_ < inputs_.cuts.size() && inputs_.cuts[next_cut_] <= work.from) {
      before_cut_ = longest_;
      ++next_cut_;
    }
    if (longest_ == kNone || work.to > graph_.works[longest_].to) longest_ = i;
    if (work.needs == 0) need(i, before_cut_, NeedKind::kBacklog);
  }

  // Data may contradict itself (a launch after what it launched), so that what should have been
  // binding was dropped: then the last thing needed is.
  void settle(std::uint32_t i) {
    const Work& work = graph_.works[i];
    Need* latest = nullptr;
    for (std::uint32_t n = 0; n < work.needs; ++n) {
      Need& need = graph_.needs[work.first_need + n];
      if (graph_.works[need.work].to + need.lag == work.from) return;
      if (latest == nullptr || graph_.works[need.work].to > graph_.works[latest->work].to) {
        latest = &need;
      }
    }
    if (latest != nullptr) latest->lag = work.from - graph_.works[latest->work].to;
  }

  // Where `i` is found by those that need it.
  void keep(std::uint32_t i, std::uint32_t collective) {
    const Work& work = graph_.works[i];
    switch (work.role) {
      case Role::kArrival:
        arrivals_[collective].push_back(i);
        keep_in_stream(i);
        break;
      case Role::kPlain:
      case Role::kTransfer:
        of_event_[work.event] = i;
        keep_in_stream(i);
        break;
      case Role::kHost:
        of_thread_[work.lane].push_back(i);
        break;
      case Role::kHub:
        break;
    }
  }

  void keep_in_stream(std::uint32_t i) {
    const Work& work = graph_.works[i];
    of_stream_[work.lane].push_back(i);
    std::uint32_t& latest = latest_[work.lane];
    if (latest == kNone || work.to >= graph_.works[latest].to) latest = i;
  }

  // A rank's own arrival, and the last of all.
  void transfer_needs(std::uint32_t i, std::uint32_t hub) {
    const Work& work = graph_.works[i];
    const bool all_there = hub != kNone && graph_.works[hub].to <= work.from;
    need(i, last_of_stream(work.lane, work.from), NeedKind::kOrder,
         all_there ? Nanos{} : Nanos::max());
    need(i, hub, NeedKind::kCollective);
  }

  // The measured lag, unless it is given.
  void need(std::uint32_t of, std::uint32_t on, NeedKind kind, Nanos most = Nanos::max()) {
    if (on == kNone) return;
    const Nanos measured = graph_.works[of].from - graph_.works[on].to;
    if (measured < Nanos{}) return;  // They overlapped: it was no need.
    if (graph_.works[of].needs == kMostNeeds) return;
    graph_.needs.push_back({on, kind, std::min(measured, most)});
    ++graph_.works[of].needs;
  }

  // The work of a stream that ended last by then.
  std::uint32_t last_of_stream(std::uint32_t stream, Nanos time) const {
    constexpr int kBeside = 16;  // So many may run beside each other.
    std::uint32_t best = latest_[stream];
    if (best == kNone || graph_.works[best].to <= time) return best;
    best = kNone;
    const std::vector<std::uint32_t>& works = of_stream_[stream];
    int left = kBeside;
    for (auto i = works.rbegin(); i != works.rend() && left > 0; ++i, --left) {
      const Nanos end = graph_.works[*i].to;
      if (end > time) continue;
      if (best == kNone || end > graph_.works[best].to) best = *i;
    }
    return best;
  }

  // The last work of a thread that ended by then.
  std::uint32_t ended_by(std::uint32_t thread, Nanos time) const {
    const std::vector<std::uint32_t>& works = of_thread_[thread];
    const auto after = std::ranges::partition_point(
        works, [&](std::uint32_t i) { return graph_.works[i].to <= time; });
    return after == works.begin() ? kNone : *(after - 1);
  }

  // The last work of any other thread of the same process that ended before this one began.
  std::uint32_t ended_in_process(const Work& work) const {
    std::uint32_t best = kNone;
    for (std::uint32_t thread = 0; thread < of_thread_.size(); ++thread) {
      if (thread == work.lane || of_thread_[thread].empty()) continue;
      if (in_.trace.threads[thread].process != in_.trace.threads[work.lane].process) continue;
      const std::uint32_t ended = ended_by(thread, work.from);
      if (ended == kNone) continue;
      if (best == kNone || graph_.works[ended].to > graph_.works[best].to) best = ended;
    }
    return best;
  }

  // Something a device event may have waited for, and how long that usually takes to take effect.
  struct Candidate {
    std::uint32_t work = kNone;
    NeedKind kind = NeedKind::kOrder;
    Nanos usual{};
  };

  void device_needs(std::uint32_t i) {
    const Work& work = graph_.works[i];
    const DeviceEvent& event = in_.trace.device_events[work.event];
    candidates_.clear();
    candidate(last_of_stream(event.stream, work.from), NeedKind::kOrder, usual_.queue, work);
    if (event.launch != kNone) {
      const HostEvent& launch = in_.trace.host_events[event.launch];
      // A launch that loads its kernel first has launched it by the end (host_work.cc).
      const bool loads = in_.reasons.of(event.launch) == Why::kWarmup;
      const Nanos launched = loads ? std::min(called_until(event), work.from)
                                   : launch.start - shift_of_thread(launch.thread);
      candidate(ended_by(launch.thread, launched), NeedKind::kLaunch, usual_.launch, work);
    }
    for (const std::uint32_t on : order_.awaited(work.event)) {
      candidate(of_event_[on], NeedKind::kStreamWait, usual_.stream_wait, work);
    }
    if (!candidates_.empty()) guess_wait(event, work);
    // What should have let it begin last did; for the others only the usual is known.
    const Candidate* binding = nullptr;
    for (const Candidate& one : candidates_) {
      if (binding == nullptr || ready(one) > ready(*binding)) binding = &one;
    }
    for (const Candidate& one : candidates_) {
      const Nanos since = one.kind == NeedKind::kLaunch
                              ? std::max(called_until(event), graph_.works[one.work].to)
                              : graph_.works[one.work].to;
      const bool told = one.kind == NeedKind::kStreamWait;
      const bool unseen = &one == binding && !told && work.from - since > kUnexplained;
      need(i, one.work, unseen ? NeedKind::kBacklog : one.kind,
           &one == binding ? Nanos::max() : one.usual);
    }
  }

  Nanos called_until(const DeviceEvent& event) const {
    const HostEvent& launch = in_.trace.host_events[event.launch];
    return launch.end() - shift_of_thread(launch.thread);
  }

  Nanos ready(const Candidate& one) const { return graph_.works[one.work].to + one.usual; }

  void candidate(std::uint32_t on, NeedKind kind, Nanos usual, const Work& work) {
    if (on != kNone && graph_.works[on].to <= work.from) candidates_.push_back({on, kind, usual});
  }

  // Where it began far later than anything known explains.
  void guess_wait(const DeviceEvent& event, const Work& work) {
    Nanos since = graph_.works[candidates_.front().work].to;
    Nanos usual = candidates_.front().usual;
    for (const Candidate& one : candidates_) {
      if (graph_.works[one.work].to < since) continue;
      since = graph_.works[one.work].to;
      usual = one.usual;
    }
    if (work.from - since <= 3 * usual + kUsualLaunch) return;
    const std::uint32_t other = released_by(event, work.from, since);
    if (other == kNone) return;
    // It explains the whole of the rest: nothing that was ready earlier does.
    candidates_.push_back({other, NeedKind::kRelease, work.from - graph_.works[other].to});
  }

  // The event of another stream that ended last before this one started, while this one was
  // launched, its own stream was free and it did not start: it waited for that one, or for room.
  std::uint32_t released_by(const DeviceEvent& event, Nanos start, Nanos since) const {
    const std::uint32_t device = in_.trace.streams[event.stream].device;
    std::uint32_t best = kNone;
    Nanos best_end = since;
    for (const std::uint32_t stream : streams_of_[device]) {
      if (stream == event.stream) continue;
      const std::uint32_t last = last_of_stream(stream, start);
      if (last == kNone) continue;
      const Nanos end = graph_.works[last].to;
      if (end > best_end && end <= start) {
        best = last;
        best_end = end;
      }
    }
    return best;
  }

  void host_needs(std::uint32_t i, const HostNeeds& host) {
    const Work& work = graph_.works[i];
    const std::vector<std::uint32_t>& of_thread = of_thread_[work.lane];
    const std::uint32_t before = of_thread.empty() ? kNone : of_thread.back();
    std::uint32_t handed = host.handed_by == kNone ? kNone : ended_by(host.handed_by, work.from);
    if (host.handed_by != kNone && handed == kNone) handed = ended_in_process(work);
    const std::span<const Await> awaits =
        std::span(waits_.awaits).subspan(host.first_await, host.awaits);
    // When the last of what it waited for was there.
    Nanos last = Nanos::min();
    const auto consider = [&](std::uint32_t on) {
      if (on == kNone || graph_.works[on].to > work.from) return;
      last = std::max(last, graph_.works[on].to);
    };
    for (const Await& await : awaits) consider(of_event_[await.event]);
    consider(handed);
    const bool waited = before == kNone || last >= graph_.works[before].to;
    need(i, before, NeedKind::kOrder, last != Nanos::min() && waited ? Nanos{} : Nanos::max());
    for (const Await& await : awaits) {
      const std::uint32_t on = of_event_[await.event];
      const bool binds = waited && on != kNone && graph_.works[on].to == last;
      const Nanos usual = await.for_room ? usual_.queue : Nanos{};
      need(i, on, await.for_room ? NeedKind::kRoom : NeedKind::kWait, binds ? Nanos::max() : usual);
    }
    need(i, handed, NeedKind::kHandOver);
  }

  const Prepared& in_;
  const GraphInputs& inputs_;
  StreamOrder order_;
  Usual usual_;
  HostWaits waits_;
  WorkGraph graph_;
  std::vector<Candidate> candidates_;  // Of the device event at hand.
  std::size_t next_cut_ = 0;
  std::uint32_t before_cut_ = kNone;  // Of what was before the last cut: the one that ended last.
  std::uint32_t longest_ = kNone;     // Of all so far.
  std::vector<std::vector<std::uint32_t>> streams_of_;  // By device.
  std::vector<std::vector<std::uint32_t>> of_stream_;
  std::vector<std::uint32_t> latest_;  // Of each stream: what ends last.
  std::vector<std::vector<std::uint32_t>> of_thread_;
  std::vector<std::uint32_t> of_event_;  // Work of a device event.
  std::vector<std::vector<std::uint32_t>> arrivals_;
  std::vector<std::uint32_t> hubs_;
};

}  // namespace

WorkGraph work_graph(const Prepared& prepared, const GraphInputs& inputs) {
  return Assemble(prepared, inputs).run();
}

}  // namespace amdahl::profile
