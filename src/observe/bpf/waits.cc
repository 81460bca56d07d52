#include "observe/bpf/waits.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "observe/bpf/kernel.h"
#include "observe/bpf/proc_sampler.h"
#include "observe/bpf/recorder.h"
#include "observe/watcher.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

constexpr Nanos kWaitsEvery = std::chrono::milliseconds(20);

}  // namespace

// A thread that samples at an affordable interval.
class Waits::Sampling {
 public:
  Sampling(os::Clock& clock, std::string why_not) : clock_{clock} {
    summary_.collector = "proc";
    summary_.why_not = std::move(why_not);
    summary_.host = os::host_name();
    summary_.started = clock.unix_time();
    summary_.monotonic = clock.monotonic();
    summary_.sample_every = kWaitsEvery;
  }
  ~Sampling() { end(); }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  void start(pid_t pid) {
    sampler_.follow(pid);
    thread_ = std::thread([this] { loop(); });
  }

  void end() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  model::BpfSummary finish() {
    end();
    summary_.tasks = sampler_.finish();
    summary_.wall = clock_.monotonic() - summary_.monotonic;
    return std::move(summary_);
  }

 private:
  void loop() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    SamplingInterval pace(kWaitsEvery);
    std::unique_lock lock(mutex_);
    while (!is_stopped_) {
      const Nanos now = clock_.monotonic() - summary_.monotonic;
      sampler_.look(now);
      pace.note(now, own_cpu_time());
      summary_.sample_every = pace.interval();
      wake_.wait_for(lock, pace.interval());
    }
    summary_.collector_cpu = own_cpu_time();
  }

  os::Clock& clock_;
  ProcSampler sampler_;
  model::BpfSummary summary_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
};

std::string why_no_bpf() {
  const auto loaded = Kernel::load(false, [](auto) {});
  return loaded ? "" : loaded.error().text;
}

Waits::Waits(const CollectorOptions& options, os::Clock& clock) : clock_{clock}, options_{options} {
  auto started = BpfCollector::start(options, clock);
  if (started) {
    bpf_ = *std::move(started);
    return;
  }
  why_not_ = started.error().text;
  if (options.count_syscalls) why_not_ += "; system calls were not counted either";
  sampling_ = std::make_unique<Sampling>(clock, why_not_);
}

Waits::~Waits() = default;

void Waits::before_start() {
  if (bpf_) bpf_->follow_children();
}

void Waits::started(pid_t pid) {
  if (bpf_) bpf_->ignore_children();
  if (sampling_ && pid > 0) sampling_->start(pid);
}

Result<model::BpfSummary> Waits::stop() {
  if (bpf_) return bpf_->stop();
  model::BpfSummary summary = sampling_->finish();
  Recorder recorder(options_.record, options_.most_record_bytes);
  TRY(recorder.begin(model::bpf_head_line(summary)));
  TRY(recorder.finish(summary));
  return summary;
}

}  // namespace amdahl::observe
