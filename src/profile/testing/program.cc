#include "profile/testing/program.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "model/trace_builder.h"

namespace amdahl::profile {
namespace {

using model::DeviceKind;
using model::HostKind;
using model::kNone;

constexpr const char* kCollectiveName = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";
constexpr Nanos kOpen = Nanos::min();  // Not known yet.

struct Device {
  Nanos put = kOpen;  // When the call began that put it there.
  Nanos start = kOpen;
  Nanos end = kOpen;
  Nanos takes{};                    // A collective: from when all are there.
  std::vector<std::size_t> awaits;  // Device events of other streams.
  std::size_t rank = 0;
  int stream = 0;
  int collective = -1;
  std::uint32_t correlation = 0;
  DeviceKind kind = DeviceKind::kKernel;
  const char* name = "gemm";
};

struct Thread {
  std::size_t rank = 0;
  std::size_t number = 0;
  std::size_t next = 0;  // Act.
  Nanos now{};
  Nanos step{};
  std::size_t pending = SIZE_MAX;  // Device event that its act waits for.
};

// What is recorded on a stream, or waited for: the device event, and the call's correlation.
struct Mark {
  std::size_t device = SIZE_MAX;
  int stream = 0;
  std::uint32_t correlation = 0;
};

struct Stream {
  std::vector<std::size_t> events;
  std::vector<std::size_t> awaits;  // By the next event.
  std::size_t resolved = 0;         // Of so many the end is known.
};

const char* work_name(Why why) {
  switch (why) {
    case Why::kInput:
      return "enumerate(DataLoader)#_Iter.__next__";
    case Why::kLogging:
      return "log metrics";
    case Why::kCheckpoint:
      return "save_checkpoint";
    case Why::kGc:
      return "gc.collect";
    default:
      return "aten::mm";
  }
}

class Run {
 public:
  Run(const Program& program, const WhatIf& change, Recording recording)
      : program_{program}, change_{change}, recording_{recording} {
    streams_.resize(program.ranks.size());
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      const auto number = static_cast<std::int32_t>(r);
      sources_.push_back(builder_.source({.file = fmt::format("rank{}", r),
                                          .format = "made",
                                          .backend = "nccl",
                                          .rank = number,
                                          .clock = model::Clock::kUnix}));
      processes_.push_back(builder_.process(sources_[r], 100 + number));
      for (std::size_t t = 0; t < program.ranks[r].threads.size(); ++t) {
        threads_.push_back({.rank = r, .number = t});
      }
    }
  }

  Course all() {
    while (step()) {
    }
    for (const Thread& thread : threads_) CHECK(thread.next == acts(thread).size());
    resolve();
    Course course;
    for (const Thread& thread : threads_) course.wall = std::max(course.wall, thread.now);
    for (const Device& device : devices_) {
      CHECK(device.end != kOpen);
      course.wall = std::max(course.wall, device.end);
      write(device);
    }
    course.trace = std::move(builder_).finish();
    return course;
  }

 private:
  const std::vector<Act>& acts(const Thread& thread) const {
    return program_.ranks[thread.rank].threads[thread.number];
  }
  Nanos scaled(Nanos time, Why why) const {
    const double factor = change_.factors[at(why)];
    return Nanos{std::llround(static_cast<double>(time.count()) * factor)};
  }

  // Runs the next act of the thread that is furthest behind among those that can go on.
  bool step() {
    resolve();
    progress_ = false;
    std::vector<Thread*> order;
    for (Thread& thread : threads_) {
      if (thread.next < acts(thread).size()) order.push_back(&thread);
    }
    std::ranges::stable_sort(order, {}, [](const Thread* thread) { return thread->now; });
    for (Thread* thread : order) {
      if (!act(*thread, acts(*thread)[thread->next])) continue;
      ++thread->next;
      return true;
    }
    return progress_;
  }

  Stream& stream(const Thread& thread, int number) { return streams_[thread.rank][number]; }

  // False: what it waits for is not known yet.
  bool act(Thread& thread, const Act& act) {
    switch (act.kind) {
      case ActKind::kWork:
        return work(thread, act, true);
      case ActKind::kSilence:
        return work(thread, act, false);
      case ActKind::kLaunch:
      case ActKind::kCopy:
      case ActKind::kBlockingCopy:
      case ActKind::kCollective:
        return launch(thread, act);
      case ActKind::kRecord:
      case ActKind::kStreamWait:
        return mark(thread, act);
      case ActKind::kSyncStream:
      case ActKind::kSyncEvent:
      case ActKind::kSyncDevice:
        return sync(thread, act);
      case ActKind::kWake:
        signals_[{thread.rank, act.event}] = thread.now;
        return true;
      case ActKind::kSleep: {
        const auto woken = signals_.find({thread.rank, act.event});
        if (woken == signals_.end()) return false;
        thread.now = std::max(thread.now, woken->second);
        return true;
      }
      case ActKind::kBeginStep:
        thread.step = thread.now;
        return true;
      case ActKind::kEndStep:
        write(thread, fmt::format("ProfilerStep#{}", act.event), HostKind::kAnnotation, thread.step,
              thread.now, 0);
        return true;
    }
    return false;
  }

  bool work(Thread& thread, const Act& act, bool recorded) {
    const Nanos from = thread.now;
    thread.now += scaled(act.host, act.why);
    const bool range =
        act.why == Why::kInput || act.why == Why::kLogging || act.why == Why::kCheckpoint;
    if (recorded) {
      write(thread, work_name(act.why), range ? HostKind::kAnnotation : HostKind::kOp, from,
            thread.now, 0);
    }
    return true;
  }

  bool launch(Thread& thread, const Act& act) {
    Stream& on = stream(thread, act.stream);
    const std::size_t room = program_.lags.room;
    const bool blocks = act.kind == ActKind::kBlockingCopy;
    Nanos entered = thread.now;
    if (room > 0 && thread.pending == SIZE_MAX && on.events.size() > room) {
      const Device& ahead = devices_[on.events[on.events.size() - room]];
      if (ahead.start == kOpen) return false;
      entered = std::max(entered, ahead.start);
    }
    if (thread.pending == SIZE_MAX) thread.pending = put(thread, act, entered);
    const std::size_t own = thread.pending;
    resolve();
    if (blocks && devices_[own].end == kOpen) return false;
    const Nanos from = thread.now;
    const bool copies = devices_[own].kind == DeviceKind::kCopy;
    thread.now = blocks ? waited(from, devices_[own].end) + scaled(act.host, Why::kSync)
                        : entered + scaled(act.host, Why::kLaunch);
    write(thread,
          blocks   ? "cudaMemcpy"
          : copies ? "cudaMemcpyAsync"
                   : "cudaLaunchKernel",
          HostKind::kRuntime, from, thread.now, devices_[own].correlation);
    thread.pending = SIZE_MAX;
    return true;
  }

  std::size_t put(Thread& thread, const Act& act, Nanos entered) {
    const bool copies = act.kind == ActKind::kCopy || act.kind == ActKind::kBlockingCopy;
    Stream& on = stream(thread, act.stream);
    Device device{.put = entered,
                  .awaits = std::exchange(on.awaits, {}),
                  .rank = thread.rank,
                  .stream = act.stream,
                  .correlation = ++correlation_,
                  .kind = copies ? DeviceKind::kCopy : DeviceKind::kKernel,
                  .name = copies ? "Memcpy" : act.kernel};
    Why why = copies ? Why::kCopy : Why::kKernel;
    if (act.kind == ActKind::kCollective) {
      device.collective = act.event;
      device.name = kCollectiveName;
      why = Why::kComm;
    }
    double factor = change_.factors[at(why)];
    for (const WhatIf::Kernel& kernel : change_.kernels) {
      if (std::string_view(device.name).find(kernel.part) != std::string_view::npos) {
        factor *= kernel.factor;
      }
    }
    device.takes = Nanos{std::llround(static_cast<double>(act.device.count()) * factor)};
    on.events.push_back(devices_.size());
    if (device.collective >= 0) collectives_[device.collective].push_back(devices_.size());
    devices_.push_back(std::move(device));
    progress_ = true;
    return devices_.size() - 1;
  }

  // When a wait is over that began at `from`: all of it, or the part that a change leaves.
  Nanos waited(Nanos from, Nanos until) const {
    return until <= from ? from : from + scaled(until - from, Why::kSync);
  }

  bool mark(Thread& thread, const Act& act) {
    const Nanos from = thread.now;
    thread.now += scaled(act.host, Why::kHost);
    Stream& on = stream(thread, act.stream);
    Mark& event = events_[{thread.rank, act.event}];
    ++correlation_;
    if (act.kind == ActKind::kRecord) {
      event = {on.events.empty() ? SIZE_MAX : on.events.back(), act.stream, correlation_};
      write(thread, "cudaEventRecord", HostKind::kRuntime, from, thread.now, correlation_);
      return true;
    }
    // What a stream recorded itself is done before all that is put there later.
    const bool other = event.device != SIZE_MAX && event.stream != act.stream;
    if (other) on.awaits.push_back(event.device);
    write(thread, "cudaStreamWaitEvent", HostKind::kRuntime, from, thread.now, correlation_);
    write(thread.rank, model::SyncKind::kStreamWait, from, {}, act.stream, event);
    return true;
  }

  bool sync(Thread& thread, const Act& act) {
    std::vector<std::size_t> targets;
    const Mark& event = events_[{thread.rank, act.event}];
    if (act.kind == ActKind::kSyncEvent) targets.push_back(event.device);
    if (act.kind == ActKind::kSyncStream) targets.push_back(last(stream(thread, act.stream)));
    if (act.kind == ActKind::kSyncDevice) {
      for (const auto& [number, on] : streams_[thread.rank]) targets.push_back(last(on));
    }
    Nanos until = thread.now;
    for (const std::size_t target : targets) {
      if (target == SIZE_MAX) continue;
      if (devices_[target].end == kOpen) return false;
      until = std::max(until, devices_[target].end);
    }
    const Nanos from = thread.now;
    thread.now = waited(from, until) + scaled(act.host, Why::kSync);
    ++correlation_;
    const bool device = act.kind == ActKind::kSyncDevice;
    const bool one = act.kind == ActKind::kSyncEvent;
    write(thread,
          device ? "cudaDeviceSynchronize"
          : one  ? "cudaEventSynchronize"
                 : "cudaStreamSynchronize",
          HostKind::kRuntime, from, thread.now, correlation_);
    if (device) return true;  // Its call says it all.
    write(thread.rank, one ? model::SyncKind::kEvent : model::SyncKind::kStream, from,
          thread.now - from, one ? event.stream : act.stream, one ? event : Mark{});
    return true;
  }

  static std::size_t last(const Stream& stream) {
    return stream.events.empty() ? SIZE_MAX : stream.events.back();
  }

  // Starts and ends, as far as what has been put on streams determines them.
  void resolve() {
    for (bool more = true; more;) {
      more = false;
      for (auto& of_rank : streams_) {
        for (auto& [number, on] : of_rank) {
          while (on.resolved < on.events.size() && resolve(on, on.resolved)) {
            ++on.resolved;
            more = true;
          }
        }
      }
    }
  }

  // Whether the end of the n-th event of a stream is known now.
  bool resolve(const Stream& on, std::size_t n) {
    Device& device = devices_[on.events[n]];
    if (device.start == kOpen) {
      Nanos start = device.put + scaled(program_.lags.launch, Why::kLaunch);
      if (n > 0) {
        start = std::max(start,
                         devices_[on.events[n - 1]].end + scaled(program_.lags.queue, Why::kQueue));
      }
      for (const std::size_t awaited : device.awaits) {
        if (devices_[awaited].end == kOpen) return false;
        start =
            std::max(start, devices_[awaited].end + scaled(program_.lags.stream_wait, Why::kQueue));
      }
      device.start = start;
    }
    if (device.collective < 0) {
      device.end = device.start + device.takes;
      return true;
    }
    const std::vector<std::size_t>& members = collectives_[device.collective];
    if (members.size() < program_.ranks.size()) return false;
    Nanos all = device.start;
    for (const std::size_t member : members) {
      if (devices_[member].start == kOpen) return false;
      all = std::max(all, devices_[member].start);
    }
    device.end = device.start + scaled(all - device.start, Why::kStraggler) + device.takes;
    return true;
  }

  void write(const Thread& thread, std::string_view name, HostKind kind, Nanos from, Nanos to,
             std::uint32_t correlation) {
    builder_.trace().host_events.push_back(
        {.start = from + program_.ranks[thread.rank].clock,
         .duration = to - from,
         .name = builder_.intern(name),
         .thread =
             builder_.thread(processes_[thread.rank], static_cast<std::int64_t>(thread.number)),
         .correlation = correlation,
         .kind = kind});
  }

  void write(const Device& device) {
    builder_.trace().device_events.push_back(
        {.start = device.start + program_.ranks[device.rank].clock,
         .duration = device.end - device.start,
         .name = builder_.intern(device.name),
         .stream = stream_row(device.rank, device.stream),
         .correlation = device.correlation,
         .kind = device.kind});
  }

  void write(std::size_t rank, model::SyncKind kind, Nanos from, Nanos duration, int stream,
             const Mark& event) {
    if (!recording_.syncs) return;
    model::SyncEvent row{.start = from + program_.ranks[rank].clock,
                         .duration = duration,
                         .kind = kind,
                         .stream = stream_row(rank, stream),
                         .correlation = correlation_,
                         .record_correlation = event.correlation};
    if (event.correlation != 0) row.awaited_stream = stream_row(rank, event.stream);
    builder_.trace().syncs.push_back(row);
  }

  std::uint32_t stream_row(std::size_t rank, int stream) {
    const std::uint32_t device = builder_.device(sources_[rank], static_cast<std::int64_t>(rank));
    return builder_.stream(device, kNone, stream);
  }

  const Program& program_;
  const WhatIf& change_;
  Recording recording_;
  model::TraceBuilder builder_;
  std::vector<std::uint32_t> sources_;
  std::vector<std::uint32_t> processes_;
  std::vector<Thread> threads_;
  std::vector<Device> devices_;
  std::vector<std::map<int, Stream>> streams_;            // By rank.
  std::map<std::pair<std::size_t, int>, Mark> events_;    // By rank and number.
  std::map<std::pair<std::size_t, int>, Nanos> signals_;  // Likewise.
  std::map<int, std::vector<std::size_t>> collectives_;
  std::uint32_t correlation_ = 0;
  bool progress_ = false;
};

}  // namespace

Course run(const Program& program, const WhatIf& change, Recording recording) {
  return Run(program, change, recording).all();
}

}  // namespace amdahl::profile
