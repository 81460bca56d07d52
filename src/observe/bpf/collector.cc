#include "observe/bpf/collector.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "model/bpf_lines.h"
#include "observe/bpf/kernel.h"
#include "observe/bpf/lines.h"
#include "observe/bpf/reason.h"
#include "observe/bpf/recorder.h"
#include "observe/proc.h"
#include "observe/watcher.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

static_assert(kWaitReasons == model::kWaits);

constexpr Nanos kDrainEvery = std::chrono::milliseconds(50);
constexpr Nanos kLookEvery = std::chrono::milliseconds(10);  // For interpreters of new processes.
constexpr std::size_t kNamedSites = 200;  // Sites whose frames get names; the longest waits.
constexpr std::size_t kMostWakes = 2000;
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;

template <class T>
const T* as(std::span<const std::byte> event) {
  return event.size() < sizeof(T) ? nullptr : reinterpret_cast<const T*>(event.data());
}

std::string text_of(const char* chars, std::size_t most) { return {chars, ::strnlen(chars, most)}; }

template <class From>
model::Log2Histogram histogram_of(const From& counts) {
  model::Log2Histogram histogram{};
  std::copy(std::begin(counts), std::end(counts), histogram.begin());
  return histogram;
}

Nanos nanos(std::uint64_t count) { return Nanos{static_cast<std::int64_t>(count)}; }

// A state that lasts when counting ends is counted up to then.
void close(waits_task& task, std::uint64_t now) {
  const bool is_over = task.state == kTaskDead;
  // A thread that announced its exit may still have waited on the way out: that is part of its
  // life.
  if (task.died == 0 || (task.has_exited && !is_over))
    task.died = std::max({static_cast<__u64>(now), task.born, task.since});
  if (is_over || task.died <= task.since) return;
  const std::uint64_t open = task.died - task.since;
  switch (task.state) {
    case kTaskRunning:
      task.running += open;
      break;
    case kTaskReady:
      (task.was_preempted ? task.preempted : task.runqueue) += open;
      break;
    case kTaskBlocked:
      task.blocked[std::min<std::uint32_t>(task.reason, kWaitOther)] += open;
      task.blocks[std::min<std::uint32_t>(task.reason, kWaitOther)]++;
      break;
    default:
      break;
  }
}

std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  for (const std::string& name : os::list(folder)) {
    if (const auto number = to_number<pid_t>(name)) found.push_back(*number);
  }
  return found;
}

}  // namespace

class BpfCollector::Work {
 public:
  Work(const CollectorOptions& options, os::Clock& clock)
      : clock_{clock},
        recorder_{options.record, options.most_record_bytes},
        events_per_drain_{options.events_per_second * to_seconds(kDrainEvery)},
        count_syscalls_{options.count_syscalls} {}

  ~Work() { end_thread(); }

  Result<> begin() {
    kernel_ = TRY(Kernel::load(count_syscalls_, [this](auto event) { take(event); }));
    summary_.host = os::host_name();
    summary_.started = clock_.unix_time();
    summary_.monotonic = clock_.monotonic();
    summary_.run_sample_every = nanos(kernel_->sample_every());
    TRY(recorder_.begin(model::bpf_head_line(summary_)));
    thread_ = std::thread([this] { loop(); });
    return Ok{};
  }

  void follow_children(bool is_wanted) {
    const std::lock_guard lock(mutex_);
    kernel_->follow_children_of(is_wanted ? static_cast<std::uint32_t>(::gettid()) : 0);
  }

  Result<> follow(const std::set<pid_t>& processes);
  Result<model::BpfSummary> stop();

 private:
  void loop();
  void end_thread();
  void drain();
  void take(std::span<const std::byte> event);
  void take_wait(const waits_event_wait& event);
  void take_code(std::span<const std::byte> event);
  void keep_pace();
  void collect_dead(std::vector<std::uint32_t> dead);
  void add_task(std::uint32_t number, waits_task task, std::uint64_t now);
  Result<> adopt(pid_t process, std::set<pid_t>& seen);
  std::int64_t tid_of(std::uint32_t number) const;
  void add_sites();
  void add_wakes();
  void add_devices();

  os::Clock& clock_;
  Recorder recorder_;
  const double events_per_drain_;
  const bool count_syscalls_;
  std::unique_ptr<Kernel> kernel_;
  Lines lines_;
  model::BpfSummary summary_;
  std::unordered_map<std::uint32_t, std::int64_t> tids_;  // By number in the kernel.
  std::vector<std::uint32_t> dying_;  // Told since the last drain; collected after the next.
  std::vector<std::uint32_t> dead_;
  std::int64_t events_ = 0;
  Nanos smallest_event_ = std::chrono::microseconds(20);
  Nanos cpu_{};

  std::thread thread_;
  std::mutex mutex_;  // Of all above, while the thread runs.
  std::condition_variable wake_;
  bool is_stopped_ = false;
};

void BpfCollector::Work::loop() {
  // The supervisor's signals are for its own thread.
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    wake_.wait_for(lock, lines_.is_looking() ? kLookEvery : kDrainEvery);
    drain();
  }
  cpu_ = own_cpu_time();
}

void BpfCollector::Work::end_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void BpfCollector::Work::drain() {
  std::vector<std::uint32_t> dead = std::exchange(dead_, std::exchange(dying_, {}));
  for (const auto& [process, python] : lines_.next_round()) kernel_->set_python(process, python);
  kernel_->drain();
  collect_dead(std::move(dead));
  keep_pace();
  recorder_.flush();
}

void BpfCollector::Work::take(std::span<const std::byte> event) {
  const auto* kind = as<std::uint32_t>(event);
  if (!kind) return;
  if (*kind == kEventWait) {
    if (const auto* wait = as<waits_event_wait>(event)) take_wait(*wait);
  } else if (*kind == kEventStack || *kind == kEventSample) {
    if (const auto* stack = as<waits_event_stack>(event)) lines_.take(*stack);
  } else if (*kind == kEventPython) {
    if (const auto* python = as<waits_event_python>(event)) lines_.take(*python);
  } else if (*kind == kEventCode) {
    take_code(event);
  } else if (const auto* task = as<waits_event_task>(event)) {
    tids_[task->task] = task->tid;
    if (*kind == kEventExec) lines_.met(task->process, task->task);
    if (*kind == kEventExit) dying_.push_back(task->task);
  }
}

void BpfCollector::Work::take_wait(const waits_event_wait& event) {
  ++events_;
  tids_[event.task] = event.tid;
  model::SingleWait wait;
  wait.tid = event.tid;
  wait.waker = tid_of(event.waker);
  if (event.reason < kWaitReasons) wait.reason = static_cast<model::Wait>(event.reason);
  wait.site = event.site;
  wait.off = std::max(Nanos{}, nanos(event.off) - summary_.monotonic);
  wait.woken = std::max(wait.off, nanos(event.woken) - summary_.monotonic);
  wait.on = std::max(wait.woken, nanos(event.on) - summary_.monotonic);
  recorder_.add(wait);
}

// Only as long as its table of lines.
void BpfCollector::Work::take_code(std::span<const std::byte> event) {
  waits_event_code code{};
  std::memcpy(&code, event.data(), std::min(event.size(), sizeof(code)));
  lines_.take(code);
}

// At a high event rate, the shortest waits are no longer reported one by one.
void BpfCollector::Work::keep_pace() {
  const auto seen = static_cast<double>(std::exchange(events_, 0));
  Nanos wanted = smallest_event_;
  if (seen > events_per_drain_) wanted = std::min(Nanos{wanted * 2}, Nanos{10'000'000});
  if (seen < events_per_drain_ / 8) wanted = std::max(Nanos{wanted / 2}, Nanos{20'000});
  if (wanted == smallest_event_) return;
  smallest_event_ = wanted;
  kernel_->set_smallest_event(static_cast<std::uint64_t>(wanted.count()));
  recorder_.add_least(clock_.monotonic() - summary_.monotonic, wanted);
}

// Removes ended threads from the kernel's table, so that it does not fill up.
void BpfCollector::Work::collect_dead(std::vector<std::uint32_t> dead) {
  for (const std::uint32_t number : dead) {
    waits_task task{};
    if (!kernel_->read_task(number, task) || !task.has_exited) continue;
    kernel_->remove_task(number);
    add_task(number, task, task.died);
  }
}

void BpfCollector::Work::add_task(std::uint32_t number, waits_task task, std::uint64_t now) {
  close(task, now);
  tids_[number] = task.tid;
  model::TaskWaits made;
  made.tid = task.tid;
  made.process = task.process;
  made.parent = task.parent;
  made.name = text_of(task.name, sizeof(task.name));
  made.executed = task.has_executed != 0;
  made.born = std::max(Nanos{}, nanos(task.born) - summary_.monotonic);
  if (made.executed) {
    made.executed_at = std::max(made.born, nanos(task.executed) - summary_.monotonic);
  }
  made.died = std::max(made.born, nanos(task.died) - summary_.monotonic);
  made.running = nanos(task.running);
  made.runqueue = nanos(task.runqueue);
  made.preempted = nanos(task.preempted);
  for (std::size_t i = 0; i < model::kWaits; ++i) {
    made.blocked[i] = nanos(task.blocked[i]);
    made.blocks[i] = static_cast<std::int64_t>(task.blocks[i]);
  }
  made.wakeups = static_cast<std::int64_t>(task.wakeups);
  made.preemptions = static_cast<std::int64_t>(task.preemptions);
  made.yields = static_cast<std::int64_t>(task.yields);
  if (count_syscalls_) made.syscalls = static_cast<std::int64_t>(task.syscalls);
  made.minor_faults = static_cast<std::int64_t>(task.minor_faults);
  made.major_faults = static_cast<std::int64_t>(task.major_faults);
  made.runqueue_waits = static_cast<std::int64_t>(task.runqueue_waits);
  made.longest_runqueue = nanos(task.longest_runqueue);
  made.runqueue_histogram = histogram_of(task.runqueue_histogram);
  summary_.tasks.push_back(std::move(made));
}

Result<> BpfCollector::Work::adopt(pid_t process, std::set<pid_t>& seen) {
  if (!seen.insert(process).second) return Ok{};
  const std::string folder = fmt::format("/proc/{}/task", process);
  for (const pid_t tid : numbers_in(folder)) {
    const std::string own = fmt::format("{}/{}", folder, tid);
    const auto line = os::read_file(own + "/stat");
    const auto stat = line ? parse_process_stat(*line) : std::nullopt;
    if (!stat) continue;
    waits_task task{};
    task.tid = static_cast<std::uint32_t>(tid);
    task.process = static_cast<std::uint32_t>(process);
    task.parent = static_cast<std::uint32_t>(stat->parent);
    task.was_adopted = 1;
    task.born = task.since = task.off_since =
        static_cast<std::uint64_t>(clock_.monotonic().count());
    if (stat->state == 'S' || stat->state == 'D') {
      const auto call = os::read_file(own + "/syscall");
      const auto number = call ? to_number<long>(split(*call, ' ').front()) : std::nullopt;
      task.state = kTaskBlocked;
      task.reason = number ? reason_of(*number, stat->state == 'D') : kWaitOther;
    }
    const auto name = os::read_file(own + "/comm");
    if (name) std::strncpy(task.name, std::string(trim(*name)).c_str(), sizeof(task.name) - 1);
    if (tid == process) lines_.met(task.process, task.tid);
    if (!kernel_->adopt(task)) {
      return external(fmt::format("cannot record thread {}: the job has too many threads", tid));
    }
    const auto children = os::read_file(own + "/children");
    if (!children) continue;
    for (const std::string_view word : split(*children, ' ')) {
      const auto child = to_number<pid_t>(trim(word));
      if (child) TRY(adopt(*child, seen));
    }
  }
  return Ok{};
}

Result<> BpfCollector::Work::follow(const std::set<pid_t>& processes) {
  struct stat own {};
  if (::stat("/proc/self/ns/pid", &own) != 0 || own.st_ino != kFirstPidNamespace) {
    return Error{
        Error::Kind::kUnsupported,
        "cannot attach to a running process from inside a pid namespace; start the command "
        "with this program"};
  }
  const std::lock_guard lock(mutex_);
  std::set<pid_t> seen;
  for (const pid_t process : processes) TRY(adopt(process, seen));
  return Ok{};
}

std::int64_t BpfCollector::Work::tid_of(std::uint32_t number) const {
  const auto known = tids_.find(number);
  return known == tids_.end() ? number : known->second;
}

void BpfCollector::Work::add_sites() {
  for (const auto& [number, site] : kernel_->sites()) {
    if (site.count == 0) continue;
    model::WaitSite made;
    made.id = number;
    made.tid = tid_of(site.key.task);
    made.reason = static_cast<model::Wait>(std::min<std::uint32_t>(site.reason, kWaitOther));
    made.syscall = site.key.syscall;
    made.count = static_cast<std::int64_t>(site.count);
    made.time = nanos(site.time);
    made.longest = nanos(site.longest);
    summary_.sites.push_back(std::move(made));
  }
  std::ranges::stable_sort(summary_.sites, std::ranges::greater{}, &model::WaitSite::time);
  for (std::size_t i = 0; i < summary_.sites.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(summary_.sites[i].id);
    if (i < kNamedSites) summary_.sites[i].frames = lines_.frames(id);
    summary_.sites[i].python = lines_.python(id);
  }
  summary_.running = lines_.running();
  summary_.lost_samples = lines_.lost_samples();
}

void BpfCollector::Work::add_wakes() {
  for (const auto& [key, wake] : kernel_->wakes()) {
    summary_.wakes.push_back({key.waker ? tid_of(key.waker) : 0, tid_of(key.wakee),
                              static_cast<std::int64_t>(wake.count), nanos(wake.blocked)});
  }
  std::ranges::stable_sort(summary_.wakes, std::ranges::greater{}, &model::Wakes::blocked);
  if (summary_.wakes.size() > kMostWakes) {
    summary_.lost_wakes += static_cast<std::int64_t>(summary_.wakes.size() - kMostWakes);
    summary_.wakes.resize(kMostWakes);
  }
}

void BpfCollector::Work::add_devices() {
  for (const waits_device& device : kernel_->devices()) {
    model::DeviceIo made;
    made.name = text_of(device.name, sizeof(device.name));
    made.reads = static_cast<std::int64_t>(device.ios[0]);
    made.writes = static_cast<std::int64_t>(device.ios[1]);
    made.read_bytes = static_cast<std::int64_t>(device.bytes[0]);
    made.write_bytes = static_cast<std::int64_t>(device.bytes[1]);
    made.read_time = nanos(device.time[0]);
    made.write_time = nanos(device.time[1]);
    made.own = static_cast<std::int64_t>(device.own_ios);
    made.own_time = nanos(device.own_time);
    made.longest = nanos(device.longest);
    made.histogram = histogram_of(device.histogram);
    summary_.devices.push_back(std::move(made));
  }
  std::ranges::sort(summary_.devices, {}, &model::DeviceIo::name);
}

Result<model::BpfSummary> BpfCollector::Work::stop() {
  end_thread();
  const Nanos end = clock_.monotonic();
  kernel_->detach();
  kernel_->drain();
  for (const auto& [number, task] : kernel_->tasks()) {
    add_task(number, task, static_cast<std::uint64_t>(end.count()));
  }
  std::ranges::stable_sort(summary_.tasks, {}, &model::TaskWaits::born);
  const Kernel::Lost lost = kernel_->lost();
  summary_.lost_tasks = static_cast<std::int64_t>(lost.tasks);
  summary_.lost_sites = static_cast<std::int64_t>(lost.sites);
  summary_.lost_events = static_cast<std::int64_t>(lost.events + lost.calls) + recorder_.dropped();
  summary_.mended_switches = static_cast<std::int64_t>(lost.mended);
  summary_.lost_wakes = static_cast<std::int64_t>(lost.wakes);
  add_sites();
  add_wakes();
  add_devices();
  summary_.wall = end - summary_.monotonic;
  summary_.collector_cpu = cpu_;
  TRY(recorder_.finish(summary_));
  return std::move(summary_);
}

BpfCollector::BpfCollector(std::unique_ptr<Work> work) : work_{std::move(work)} {}
BpfCollector::~BpfCollector() = default;

Result<std::unique_ptr<BpfCollector>> BpfCollector::start(const CollectorOptions& options,
                                                          os::Clock& clock) {
  auto work = std::make_unique<Work>(options, clock);
  TRY(work->begin());
  return std::unique_ptr<BpfCollector>(new BpfCollector(std::move(work)));
}

void BpfCollector::follow_children() { work_->follow_children(true); }
void BpfCollector::ignore_children() { work_->follow_children(false); }
Result<> BpfCollector::follow(const std::set<pid_t>& processes) { return work_->follow(processes); }
Result<model::BpfSummary> BpfCollector::stop() { return work_->stop(); }

}  // namespace amdahl::observe
