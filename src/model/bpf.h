// bpf.h: where the threads of a job spent their time and what they waited for, summed by thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::model {

// What a thread was blocked in. In the order of src/observe/bpf/record.h.
enum class Wait : std::uint8_t {
  kFutex,   // A lock, a condition, a barrier of a thread pool.
  kRead,    // A disk, to read from it.
  kWrite,   // A disk, to write to it.
  kSync,    // A disk, to have all on it: fsync and its like.
  kPoll,    // One of several files or sockets: poll, select, epoll.
  kSleep,   // A time.
  kChild,   // The end of a child, or a signal.
  kNet,     // A socket.
  kPipe,    // The other end of a pipe, a socket or a terminal, in a plain read or write.
  kFault,   // A page that was not in memory.
  kMemory,  // The address space: mmap, munmap, brk.
  kFiles,   // Names and folders: open, stat, rename, exec.
  kDevice,  // A driver (ioctl): accelerators are waited for there.
  kOther,
};
inline constexpr std::size_t kWaits = 14;

// Written to files and evidence: never renamed, never reused.
inline constexpr std::array<std::string_view, kWaits> kWaitNames = {
    "futex", "read", "write", "sync",   "poll",  "sleep",  "child",
    "net",   "pipe", "fault", "memory", "files", "device", "other"};
constexpr std::string_view name(Wait wait) { return kWaitNames[static_cast<std::size_t>(wait)]; }

// Bucket b counts those below 2^b microseconds and not below half of it; the last all longer ones.
using Log2Histogram = std::array<std::int64_t, 32>;

// One thread. Times are of its life: running, runqueue, preempted and blocked sum to it.
struct TaskWaits {
  std::int64_t tid = 0;
  std::int64_t process = 0;
  std::int64_t parent = 0;  // The process that started it.
  std::string name;
  bool executed = false;  // It executed a program after its birth.
  Nanos executed_at{};    // The last time; 0 if it did not, or that is not known.
  Nanos born{};           // Since the summary's start, as are `executed_at` and `died`.
  Nanos died{};
  Nanos running{};
  Nanos runqueue{};   // Woken, and waiting for a CPU.
  Nanos preempted{};  // Taken off a CPU while it could run, or having given it up (sched_yield).
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
  std::uint64_t offset = 0;  // In the file as it is linked, so that addr2line takes it.
  std::string symbol;        // Empty where the file names none.
  std::string source{};      // By the file's debug information; empty without it.
  int line = 0;              // From 1; 0: not known.

  friend bool operator==(const WaitFrame&, const WaitFrame&) = default;
};

struct PythonFrame {
  std::string file;  // As the interpreter knows it.
  int line = 0;
  std::string function;

  friend bool operator==(const PythonFrame&, const PythonFrame&) = default;
};

// A place in the code where one thread waited.
struct WaitSite {
  std::int64_t id = 0;  // What single waits refer to; from 1.
  std::int64_t tid = 0;
  Wait reason = Wait::kOther;
  int syscall = -1;
  std::int64_t count = 0;
  Nanos time{};
  Nanos longest{};
  // Innermost first; empty if the stack could not be had. A function that was inlined is a frame
  // of its own, with the offset of the one around it.
  std::vector<WaitFrame> frames;
  std::vector<PythonFrame> python{};  // Innermost first; empty where no Python runs.

  friend bool operator==(const WaitSite&, const WaitSite&) = default;
};

// A stack that one thread was seen in while it ran. Of a thread that runs Python the frames are
// not taken.
struct RunSite {
  std::int64_t tid = 0;
  std::int64_t samples = 0;
  std::vector<WaitFrame> frames;
  std::vector<PythonFrame> python;

  friend bool operator==(const RunSite&, const RunSite&) = default;
};

struct Wakes {
  std::int64_t waker = 0;  // Thread; 0: a timer, a device, or somebody outside the job.
  std::int64_t wakee = 0;
  std::int64_t count = 0;
  Nanos blocked{};  // How long these blocks of the wakee had lasted.

  friend bool operator==(const Wakes&, const Wakes&) = default;
};

// Of the whole host while the job ran.
struct DeviceIo {
  std::string name;
  std::int64_t reads = 0;
  std::int64_t writes = 0;  // And all that is not a read.
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  Nanos read_time{};
  Nanos write_time{};
  std::int64_t own = 0;  // Issued by the job's own threads.
  Nanos own_time{};
  Nanos longest{};
  Log2Histogram histogram{};

  friend bool operator==(const DeviceIo&, const DeviceIo&) = default;
};

struct BpfSummary {
  std::string collector = "bpf";  // Or "proc": sampled, where BPF was not permitted.
  std::string why_not;            // Of "proc": why not BPF.
  std::string host;
  Nanos started{};    // Unix time.
  Nanos monotonic{};  // The same moment on CLOCK_MONOTONIC.
  Nanos wall{};
  Nanos collector_cpu{};      // Of the collector's own thread, not of what the kernel does for it.
  Nanos sample_every{};       // Of "proc"; 0: exact.
  std::int64_t stepping = 0;  // The process that was seen from inside to run steps; 0: none.
  std::int64_t stepping_thread = 0;  // The thread that did; 0: its first, for all that is known.
  std::vector<TaskWaits> tasks;      // By birth.
  std::vector<WaitSite> sites;       // Longest time first.
  std::vector<RunSite> running;      // Most samples first.
  Nanos run_sample_every{};          // Of each CPU; 0: what threads ran was not sampled.
  std::vector<Wakes> wakes;          // Longest time first.
  std::vector<DeviceIo> devices;
  std::int64_t lost_tasks = 0;  // Threads, places, waits and pairs that found no room.
  std::int64_t lost_sites = 0;
  std::int64_t lost_events = 0;
  std::int64_t lost_wakes = 0;
  std::int64_t lost_samples = 0;
  std::int64_t mended_switches = 0;  // That the kernel did not tell of; their times were inferred.

  friend bool operator==(const BpfSummary&, const BpfSummary&) = default;
};

}  // namespace amdahl::model
