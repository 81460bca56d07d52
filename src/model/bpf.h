// bpf.h: how long each thread of a job ran, was blocked and waited for a CPU, and on what.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::model {

// Why a thread was blocked. Same order as in src/observe/bpf/record.h.
enum class Wait : std::uint8_t {
  kFutex,   // Lock, condition variable, or barrier of a thread pool.
  kRead,    // Disk read.
  kWrite,   // Disk write.
  kSync,    // fsync and similar calls.
  kPoll,    // poll, select, epoll.
  kSleep,   // nanosleep and similar calls.
  kChild,   // Waits for a child process or a signal.
  kNet,     // Socket.
  kPipe,    // Plain read or write of a pipe, socket or terminal.
  kFault,   // Page fault: the page was not in memory.
  kMemory,  // Address space: mmap, munmap, brk.
  kFiles,   // File names and folders: open, stat, rename, exec.
  kDevice,  // Driver call (ioctl). Waits for accelerators are here.
  kOther,
};
inline constexpr std::size_t kWaits = 14;

// Written to files and evidence: never rename or reuse a name.
inline constexpr std::array<std::string_view, kWaits> kWaitNames = {
    "futex", "read", "write", "sync",   "poll",  "sleep",  "child",
    "net",   "pipe", "fault", "memory", "files", "device", "other"};
constexpr std::string_view name(Wait wait) { return kWaitNames[static_cast<std::size_t>(wait)]; }

// Bucket b counts values in [2^(b-1), 2^b) microseconds. The last bucket also counts longer ones.
using Log2Histogram = std::array<std::int64_t, 32>;

// One thread. running + runqueue + preempted + blocked = life().
struct TaskWaits {
  std::int64_t tid = 0;
  std::int64_t process = 0;
  std::int64_t parent = 0;  // Process that started this thread.
  std::string name;
  bool executed = false;  // The thread called exec after it was created.
  Nanos executed_at{};    // Time of the last exec; 0: none, or unknown.
  Nanos born{};           // Relative to BpfSummary::started, like `executed_at` and `died`.
  Nanos died{};
  Nanos running{};
  Nanos runqueue{};   // Runnable after a wake-up, waiting for a CPU.
  Nanos preempted{};  // Taken off the CPU while runnable, or gave it up (sched_yield).
  std::array<Nanos, kWaits> blocked{};
  std::array<std::int64_t, kWaits> blocks{};
  std::int64_t wakeups = 0;
  std::int64_t preemptions = 0;
  std::int64_t yields = 0;
  std::int64_t syscalls = -1;  // -1: not counted.
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t runqueue_waits = 0;
  Nanos longest_runqueue{};
  Log2Histogram runqueue_histogram{};

  Nanos life() const { return died - born; }
  Nanos blocked_in(Wait wait) const { return blocked[static_cast<std::size_t>(wait)]; }

  friend bool operator==(const TaskWaits&, const TaskWaits&) = default;
};

struct WaitFrame {
  std::string file;
  std::uint64_t offset = 0;  // File offset as linked; addr2line accepts it.
  std::string symbol;        // Empty if the file has no symbol for it.
  std::string source{};      // From debug information; empty without it.
  int line = 0;              // 1-based; 0: unknown.

  friend bool operator==(const WaitFrame&, const WaitFrame&) = default;
};

struct PythonFrame {
  std::string file;  // As reported by the interpreter.
  int line = 0;
  std::string function;

  friend bool operator==(const PythonFrame&, const PythonFrame&) = default;
};

// A call site where one thread was blocked.
struct WaitSite {
  std::int64_t id = 0;  // 1-based. SingleWait::site refers to it.
  std::int64_t tid = 0;
  Wait reason = Wait::kOther;
  int syscall = -1;
  std::int64_t count = 0;
  Nanos time{};
  Nanos longest{};
  // Innermost frame first; empty if no stack was captured. An inlined function has its own frame,
  // with the offset of the function that contains it.
  std::vector<WaitFrame> frames;
  std::vector<PythonFrame> python{};  // Innermost frame first; empty without Python.

  friend bool operator==(const WaitSite&, const WaitSite&) = default;
};

// A sampled stack of a running thread. Native frames are not captured for threads that run Python.
struct RunSite {
  std::int64_t tid = 0;
  std::int64_t samples = 0;
  std::vector<WaitFrame> frames;
  std::vector<PythonFrame> python;

  friend bool operator==(const RunSite&, const RunSite&) = default;
};

struct Wakes {
  std::int64_t waker = 0;  // Thread id; 0: a timer, a device, or a process outside the job.
  std::int64_t wakee = 0;
  std::int64_t count = 0;
  Nanos blocked{};  // Total time the wakee was blocked before these wake-ups.

  friend bool operator==(const Wakes&, const Wakes&) = default;
};

// Block device statistics of the whole host while the job ran.
struct DeviceIo {
  std::string name;
  std::int64_t reads = 0;
  std::int64_t writes = 0;  // Includes every operation that is not a read.
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  Nanos read_time{};
  Nanos write_time{};
  std::int64_t own = 0;  // Operations issued by the job's own threads.
  Nanos own_time{};
  Nanos longest{};
  Log2Histogram histogram{};

  friend bool operator==(const DeviceIo&, const DeviceIo&) = default;
};

struct BpfSummary {
  std::string collector = "bpf";  // "proc": sampled from /proc because BPF was not permitted.
  std::string why_not;            // Only for "proc": why BPF was not used.
  std::string host;
  Nanos started{};    // Unix time.
  Nanos monotonic{};  // `started` on CLOCK_MONOTONIC.
  Nanos wall{};
  Nanos collector_cpu{};      // CPU time of the collector thread, without its kernel-side cost.
  Nanos sample_every{};       // Sampling period of "proc"; 0: exact.
  std::int64_t stepping = 0;  // Process in which the hook saw steps; 0: none.
  std::int64_t stepping_thread = 0;  // Thread that ran the steps; 0: unknown, assume the first.
  std::vector<TaskWaits> tasks;      // Ordered by start.
  std::vector<WaitSite> sites;       // Longest total time first.
  std::vector<RunSite> running;      // Most samples first.
  Nanos run_sample_every{};  // Sampling period per CPU; 0: running threads were not sampled.
  std::vector<Wakes> wakes;  // Longest total time first.
  std::vector<DeviceIo> devices;
  std::int64_t lost_tasks = 0;  // Dropped because a BPF map or buffer was full.
  std::int64_t lost_sites = 0;
  std::int64_t lost_events = 0;
  std::int64_t lost_wakes = 0;
  std::int64_t lost_samples = 0;
  std::int64_t mended_switches = 0;  // Context switches the kernel did not report; inferred.

  friend bool operator==(const BpfSummary&, const BpfSummary&) = default;
};

}  // namespace amdahl::model
