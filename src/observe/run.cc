#include "observe/run.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "observe/ending.h"

namespace amdahl::observe {
namespace {

using std::chrono::milliseconds;

constexpr Nanos kGrace = std::chrono::seconds(2);
// The hook writes its data when Python ends; a second interrupt is for the impatient.
constexpr Nanos kHookGrace = std::chrono::seconds(10);
// Helpers of the main process (a loader's workers, a tracker of shared memory) notice its end by
// themselves, but not in the same instant. Until the last of them has ended the clock runs on.
constexpr Nanos kStragglers = milliseconds(200);
constexpr Nanos kWatchEvery = milliseconds(250);

std::optional<std::string> visible_gpus(const Launchable& job) {
  const auto at = job.env.find("CUDA_VISIBLE_DEVICES");
  return at == job.env.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

Run::Run(const RunOrder& order, os::Clock& clock, const std::function<void(const Live&)>& watch)
    : order_{order}, clock_{clock}, watch_{watch}, tree_{::getpid()}, pace_{order.sample_every} {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Run::~Run() { ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_); }

Result<> Run::open_outputs(Launchable& job) {
  out_ = TRY(Tee::make(order_.out_dir + "/stdout", order_.pass_output ? STDOUT_FILENO : -1));
  err_ = TRY(Tee::make(order_.out_dir + "/stderr", order_.pass_output ? STDERR_FILENO : -1));
  null_ = os::Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  // The job is not in the terminal's foreground group: reading from it would stop the job.
  const bool pass_input = order_.pass_input && !::isatty(STDIN_FILENO);
  job.stdin_fd = pass_input ? STDIN_FILENO : null_.get();
  job.stdout_fd = out_->child_end();
  job.stderr_fd = err_->child_end();
  struct stat out {};
  if (::fstat(job.stdout_fd, &out) == 0) {
    job.env["AMDAHL_STDOUT"] = fmt::format("{}:{}", out.st_dev, out.st_ino);
  }
  return Ok{};
}

Result<model::Receipt> Run::go() {
  Launchable job = TRY(prepare(order_));
  TRY(open_outputs(job));
  const auto visible = visible_gpus(job);
  const std::vector<int> gpus = gpus_for(nvml_, visible, order_.plan.accelerators);
  // An arm that pays for two GPUs must not use a third.
  if (!gpus.empty() && !visible) {
    job.env["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(gpus, ","));
  }
  job.env[Guard::kVariable] = guard_.mark();
  if (!guard_.is_there()) {
    problems_.emplace_back(
        "the guard process could not start: processes that the job leaves behind will not be "
        "killed");
  }
  model::Receipt receipt;
  watcher_.emplace(tree_, nvml_, gpus, order_.plan.accelerators, order_.out_dir + "/report.jsonl");
  gpu_record_.emplace(nvml_, gpus);
  // Before the clock starts: the kernel takes its time to check the program.
  if (order_.with_waits) {
    CollectorOptions options;
    options.record = order_.out_dir + "/waits.jsonl";
    options.count_syscalls = order_.with_syscalls;
    waits_.emplace(options, clock_);
    waits_->before_start();
  }
  own_cpu_start_ = own_cpu_time();
  receipt.started = clock_.unix_time();
  start_ = clock_.monotonic();
  receipt.started_monotonic = start_;
  const Started started = TRY(start(job));
  if (waits_) waits_->started(started.pid);
  out_->started();
  err_->started();
  if (started.pid < 0) {
    receipt.ending = model::Ending::kNotStarted;
    receipt.reason = started.reason;
    receipt.noise = watcher_->noise().finish({}, {});
    end_waits();
    return receipt;
  }
  tree_.adopt(started.pid);
  guard_.keep(tree_.seen());
  reaper_.emplace(started.pid, tree_);
  cgroup_.follow(started.pid);
  pidfd_ = os::Fd{static_cast<int>(::syscall(SYS_pidfd_open, started.pid, 0))};
  const auto followed = follow();
  const Nanos own_cpu = own_cpu_time() - own_cpu_start_;
  end_tree();
  end_waits();
  end_gpus();
  if (!followed) return followed.error();
  TRY(out_->pump());
  TRY(err_->pump());
  fill(receipt, own_cpu);
  return receipt;
}

// Until the main process is gone, or cannot be ended by any means.
Result<> Run::follow() {
  next_tick_ = pace_.interval();
  while (true) {
    const Nanos before = clock_.monotonic() - start_;
    await_something(before);
    const Nanos now = clock_.monotonic() - start_;
    TRY(out_->pump());
    TRY(err_->pump());
    pass_on_signals(now);
    wall_ = now;
    if (reaper_->collect() || gave_up_) return Ok{};
    if (now >= next_tick_) tick(now);
    enforce_limits(now);
  }
}

void Run::await_something(Nanos now) {
  Nanos until = next_tick_;
  if (kill_at_) until = std::min(until, *kill_at_);
  if (order_.time_limit > Nanos{0} && !ending_) until = std::min(until, order_.time_limit);
  // Without a pidfd (an old kernel) the end is found by looking.
  if (pidfd_.get() < 0) until = std::min(until, now + milliseconds(10));
  const Nanos left = std::max(Nanos{0}, until - now);
  const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
  std::array<pollfd, 4> fds{pollfd{pidfd_.get(), POLLIN, 0}, pollfd{signals_.fd(), POLLIN, 0},
                            pollfd{out_->poll_fd(), POLLIN, 0}, pollfd{err_->poll_fd(), POLLIN, 0}};
  ::ppoll(fds.data(), fds.size(), &timeout, nullptr);
}

void Run::pass_on_signals(Nanos now) {
  for (const int signal : signals_.take()) {
    const bool ends = signal == SIGINT || signal == SIGTERM;
    if (ends && ending_ && signal == SIGINT) {
      kill_at_ = now;
    } else if (ends && !ending_) {
      begin_ending(model::Ending::kCancelled,
                   fmt::format("cancelled by SIG{}", sigabbrev_np(signal)), signal, now);
    } else {
      ::kill(-reaper_->main(), signal);
    }
  }
}

void Run::tick(Nanos now) {
  watcher_->tick(now, reaper_->cpu());
  guard_.keep(tree_.seen());
  gpu_record_->look(now, tree_.seen());
  cgroup_.sample();
  pace_.note(now, own_cpu_time() - own_cpu_start_);
  next_tick_ = now + pace_.interval();
  if (watch_ && now >= next_watch_) {
    watch_(Live{now});
    next_watch_ = now + kWatchEvery;
  }
}

void Run::enforce_limits(Nanos now) {
  if (kill_at_ && now >= *kill_at_) {
    would_not_die_ = kill_tree(tree_, *reaper_, clock_);
    kill_at_.reset();
    gave_up_ = !reaper_->main_status();
    return;
  }
  if (ending_) return;
  if (order_.time_limit > Nanos{0} && now >= order_.time_limit) {
    begin_ending(model::Ending::kTimeLimit,
                 fmt::format("over the time limit of {}", show_duration(order_.time_limit)),
                 SIGTERM, now);
    return;
  }
  const double used_mb = static_cast<double>(watcher_->resident_bytes()) / 1e6;
  if (order_.memory_limit_mb && used_mb > *order_.memory_limit_mb) {
    begin_ending(model::Ending::kMemoryLimit,
                 fmt::format("over the memory limit of {} MB: {} MB in use",
                             show_number(*order_.memory_limit_mb), show_number(used_mb)),
                 SIGTERM, now);
  }
}

void Run::begin_ending(model::Ending ending, std::string reason, int signal, Nanos now) {
  ending_ = ending;
  reason_ = std::move(reason);
  kill_at_ = now + (order_.with_hook ? kHookGrace : kGrace);
  ::kill(-reaper_->main(), signal);
  // A stopped process handles the signal only after SIGCONT.
  ::kill(-reaper_->main(), SIGCONT);
}

void Run::end_tree() {
  if (!ending_ && reaper_->main_status()) {
    const Nanos until = clock_.monotonic() + kStragglers;
    std::vector<ProcessStat> living = tree_.living();
    while (!living.empty() && clock_.monotonic() < until) {
      clock_.sleep(milliseconds(5));
      reaper_->collect();
      const std::size_t before = std::exchange(living, tree_.living()).size();
      // What a process does to its own end is work of the job, whoever started it.
      if (living.size() < before) wall_ = clock_.monotonic() - start_;
    }
    left_behind_ = static_cast<int>(living.size());
  }
  if (!gave_up_) would_not_die_ = kill_tree(tree_, *reaper_, clock_);
}

void Run::end_waits() {
  if (!waits_) return;
  if (const auto ended = waits_->stop(); !ended) {
    problems_.push_back("the record of waits: " + ended.error().text);
  }
}

void Run::end_gpus() {
  ::unlink((order_.out_dir + "/gpus.jsonl").c_str());  // We would follow a link that the job left.
  if (const auto written = gpu_record_->write(order_.out_dir + "/gpus.jsonl"); !written) {
    problems_.push_back("the record of GPUs: " + written.error().text);
  }
}

void Run::fill(model::Receipt& receipt, Nanos own_cpu) {
  watcher_->finish(wall_, reaper_->cpu());
  const rusage& used = reaper_->used();
  receipt.wall = wall_;
  receipt.cpu_user = from_timeval(used.ru_utime);
  receipt.cpu_system = from_timeval(used.ru_stime);
  receipt.peak_rss_bytes =
      std::max<std::int64_t>(watcher_->peak_resident_bytes(), used.ru_maxrss * 1024);
  receipt.voluntary_switches = used.ru_nvcsw;
  receipt.involuntary_switches = used.ru_nivcsw;
  receipt.minor_faults = used.ru_minflt;
  receipt.major_faults = used.ru_majflt;
  receipt.read_blocks = used.ru_inblock;
  receipt.write_blocks = used.ru_oublock;
  const FileCalls& calls = reaper_->calls();
  receipt.read_calls = calls.reads;
  receipt.write_calls = calls.writes;
  receipt.read_bytes = calls.read_bytes;
  receipt.write_bytes = calls.written_bytes;
  receipt.peak_threads = std::max<std::int64_t>(1, watcher_->peak_threads());
  receipt.left_behind = left_behind_;
  receipt.cgroup = cgroup_.finish();
  receipt.run_delay = tree_.run_delay();
  receipt.observer_cpu = own_cpu;
  receipt.noise = watcher_->noise().finish(reaper_->cpu() + own_cpu, wall_);
  const int status = reaper_->main_status().value_or(0);
  receipt.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  receipt.reason = reason_;
  if (ending_) {
    receipt.ending = *ending_;
  } else if (WIFSIGNALED(status)) {
    receipt.ending = model::Ending::kSignalled;
    receipt.reason = fmt::format("killed by SIG{}", sigabbrev_np(receipt.code));
  } else {
    receipt.ending = model::Ending::kExited;
    if (receipt.code != 0) receipt.reason = fmt::format("exit {}", receipt.code);
  }
  if (would_not_die_ > 0) {
    receipt.reason += fmt::format("; {} process{} could not be killed", would_not_die_,
                                  would_not_die_ == 1 ? "" : "es");
  }
}

}  // namespace amdahl::observe
