// trace.h: what profilers saw of a job, event by event, on one time line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/string_pool.h"

namespace amdahl::model {

// Rows refer to each other by position, so that a million events are a few dozen megabytes. Text
// is a number of Trace::names. kNone stands for "not known" in every field that holds a position.
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

enum class Clock : std::uint8_t {
  kUnix,     // Times are Unix time: sources on the same clock can be laid over each other.
  kBoot,     // Since boot (CLOCK_MONOTONIC or CLOCK_BOOTTIME): only within one host.
  kUnknown,  // From an origin of its own: only within the source.
};

// One file, or one collector's stream. Its `base` has been added to all its times already.
struct TraceSource {
  std::string file{};    // As people know it.
  std::string format{};  // The reader's name: "kineto", "nsys".
  std::string host{};
  std::string backend{};   // "nccl", "gloo"; empty if the job is not distributed.
  std::int32_t rank = -1;  // -1: the file does not say.
  std::int32_t world_size = 0;
  Clock clock = Clock::kUnknown;
  Nanos base{};
  std::uint64_t bytes = 0;  // Read, unpacked.
  Nanos first_event{};      // Start of the first in the order of the file; 0: not known.
};

// Host processes, and their threads. A thread belongs to one process of one source.
struct TraceProcess {
  std::uint32_t source = kNone;
  std::int64_t id = 0;
  std::uint32_t name = 0;
};

struct TraceThread {
  std::uint32_t process = kNone;
  std::int64_t id = 0;
  std::uint32_t name = 0;
};

// An accelerator, as one source sees it. The same one seen by two sources has two rows.
struct TraceDevice {
  std::uint32_t source = kNone;
  std::int64_t id = 0;
  std::uint32_t name = 0;  // "NVIDIA A100-PG509-200".
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
};

// A queue of a device, as one process sees it.
struct TraceStream {
  std::uint32_t device = kNone;
  std::uint32_t process = kNone;  // kNone: correlations are unique in the source.
  std::int64_t id = 0;
};

enum class DeviceKind : std::uint8_t { kKernel, kCopy, kSet, kSync, kAnnotation };

enum class CopyKind : std::uint8_t {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost,
};

enum class HostMemory : std::uint8_t { kUnknown, kPageable, kPinned, kManaged };

inline constexpr std::uint8_t kUnknownOccupancy = 255;

// Something that a device did. 40 bytes. Kernels, copies and sets keep it busy; syncs and
// annotations only say something about it.
struct DeviceEvent {
  Nanos start{};
  Nanos duration{};  // Never negative.
  std::uint32_t name = 0;
  std::uint32_t stream = kNone;   // Of Trace::streams.
  std::uint32_t correlation = 0;  // What its launch has too; 0: it has none.
  std::uint32_t launch = kNone;   // Of Trace::host_events; set by TraceBuilder::finish().
  std::uint32_t detail = kNone;   // Of Trace::details.
  DeviceKind kind = DeviceKind::kKernel;
  CopyKind copy = CopyKind::kUnknown;
  HostMemory host_memory = HostMemory::kUnknown;  // Of a copy's host side.
  std::uint8_t occupancy = kUnknownOccupancy;     // Percent, of a kernel.

  Nanos end() const { return start + duration; }
};

// What few device events have.
struct DeviceDetail {
  std::uint64_t bytes = 0;       // Moved or set.
  std::uint64_t graph_node = 0;  // Of a CUDA graph; 0: launched by itself.
  std::uint64_t elements = 0;    // Of a collective: what goes in.
  std::uint32_t collective = 0;  // Name: "allreduce".
  std::uint32_t element_type = 0;
  std::uint32_t group = 0;  // Name of the process group.
  std::uint32_t group_size = 0;
};

enum class HostKind : std::uint8_t {
  kOp,          // A framework's operator.
  kRuntime,     // A call of the device's runtime API (cuda, hip, mtia).
  kDriver,      // A call of its driver API.
  kPython,      // A Python function: "file.py(12): name".
  kAnnotation,  // A range that the job marked: record_function, NVTX, ProfilerStep.
  kOverhead,    // Of the profiler itself.
  kOther,
};

// Something that a host thread did. 40 bytes.
struct HostEvent {
  Nanos start{};
  Nanos duration{};  // Never negative.
  std::uint32_t name = 0;
  std::uint32_t thread = kNone;   // Of Trace::threads.
  std::uint32_t correlation = 0;  // Of a runtime or driver call; 0: it has none.
  std::uint32_t parent = kNone;   // The event around it on its thread; set by finish().
  std::uint32_t stack = kNone;    // Of Trace::stacks: where in the code, if that is known.
  HostKind kind = HostKind::kOther;

  Nanos end() const { return start + duration; }
};

// From a host event to another: the forward pass of an operator to its backward pass.
struct Flow {
  Nanos from{};  // Within the event that it leaves.
  Nanos to{};
  std::uint32_t from_thread = kNone;
  std::uint32_t to_thread = kNone;
  std::uint32_t name = 0;  // "fwdbwd".
};

enum class SyncKind : std::uint8_t {
  kUnknown,
  kDevice,      // The host waits for all of a device.
  kStream,      // The host waits for a stream.
  kEvent,       // The host waits for an event.
  kStreamWait,  // A stream waits for an event of another; the host does not.
};

// A synchronisation that the profiler recorded (cuda_sync). Its host call has the correlation.
struct SyncEvent {
  Nanos start{};
  Nanos duration{};
  SyncKind kind = SyncKind::kUnknown;
  std::uint32_t stream = kNone;  // Which waits, or is waited for by the host.
  std::uint32_t correlation = 0;
  std::uint32_t awaited_stream = kNone;  // Of a kStreamWait, kEvent.
  std::uint32_t record_correlation = 0;  // Of the call that recorded the event.
};

// A value at a time: a memory total, a utilisation. Of a device, or of none.
struct Sample {
  Nanos at{};
  double value = 0;
  std::uint32_t name = 0;
  std::uint32_t source = kNone;
  std::uint32_t device = kNone;
};

enum class ThreadState : std::uint8_t { kRunning, kRunnable, kBlocked };

enum class WaitReason : std::uint8_t {
  kUnknown,
  kFutex,
  kRead,
  kWrite,
  kPoll,
  kSleep,
  kPageFault,
  kBlockIo,
  kNetwork,
  kPipe,
  kDevice,  // In an ioctl of the accelerator's driver.
  kChild,   // wait() and its like.
};

// A stretch of a thread's life as the scheduler saw it. A blocked one ends at the wake-up; the
// runnable one after it is the wait for a CPU.
struct ThreadSpan {
  Nanos start{};
  Nanos duration{};
  std::uint32_t thread = kNone;
  std::uint32_t waker = kNone;  // Thread that ended the wait; kNone: interrupt or not known.
  std::uint32_t stack = kNone;
  ThreadState state = ThreadState::kRunning;
  WaitReason reason = WaitReason::kUnknown;  // Of a blocked one.
};

// The same summed, where a collector keeps totals and no single spans.
struct ThreadTotal {
  Nanos total{};
  std::uint64_t count = 0;
  Nanos longest{};
  std::uint32_t thread = kNone;
  std::uint32_t waker = kNone;
  std::uint32_t stack = kNone;
  ThreadState state = ThreadState::kBlocked;
  WaitReason reason = WaitReason::kUnknown;
};

// A thread seen at a place of the code (perf).
struct StackSample {
  Nanos at{};
  std::uint64_t weight = 1;  // In `event`'s unit: periods, nanoseconds.
  std::uint32_t thread = kNone;
  std::uint32_t stack = kNone;
  std::uint32_t event = 0;  // Name: "cpu-clock".
};

// One frame of a call stack; the frames towards the caller follow `caller`. Shared by all stacks.
struct StackFrame {
  std::uint32_t caller = kNone;  // Of Trace::stacks; kNone: outermost.
  std::uint32_t function = 0;    // Name, with file and line where they are known.
};

// A metric of one kernel launch (Nsight Compute), and what its rules advise.
struct KernelMetric {
  std::uint32_t kernel = 0;  // Name.
  std::uint32_t launch = 0;  // Number of the launch in the report.
  std::uint32_t metric = 0;  // Name.
  std::uint32_t unit = 0;    // Name.
  double value = 0;
};

struct KernelAdvice {
  std::uint32_t kernel = 0;
  std::uint32_t launch = 0;
  std::uint32_t rule = 0;  // Name.
  std::uint32_t text = 0;
  double speedup_percent = 0;  // Estimated; 0: none given.
  bool global = false;         // Of the whole kernel, not of one resource.
};

// A step as the profiler marked it: ProfilerStep#12.
struct Step {
  Nanos start{};
  Nanos duration{};
  std::int64_t number = 0;
  std::uint32_t thread = kNone;
};

// What a reader could not keep. Each kind is counted, never silent.
enum class LossKind : std::uint8_t {
  kTruncated,         // The file ends in the middle: bytes after the last whole event.
  kUnreadable,        // Events that are not JSON, rows that do not parse.
  kNoTime,            // Events without a time, or with one that is no number (NaN).
  kNegativeDuration,  // Taken as 0.
  kTimeRange,         // Times beyond +-292 years.
  kDuplicateKey,      // The first counts.
  kControlCharacter,  // In a text, where JSON forbids it; the text is kept.
  kUnknownKind,       // Events of a category that no reader knows.
  kNoDevice,          // Device events that do not say of which device.
  kTooLong,           // Names cut, events beyond the size limit.
  kUnmatchedFlow,     // A flow with one end.
  kMerged,            // Host events folded into their parents to keep within the memory budget.
  kBudget,            // Bytes not read at all because the memory budget was used up.
  kMissingTable,      // A part of the file that other versions have.
};

struct Loss {
  std::uint32_t source = kNone;
  LossKind kind = LossKind::kUnreadable;
  std::uint64_t count = 0;
  std::string example{};  // Of the first: place and value.
};

// Plain data. TraceBuilder::finish() leaves device_events, host_events, syncs, samples and
// thread_spans in order of start; among host events of one start the longer comes first, so that
// a parent is always before its children.
struct Trace {
  StringPool names;
  std::vector<TraceSource> sources;
  std::vector<TraceProcess> processes;
  std::vector<TraceThread> threads;
  std::vector<TraceDevice> devices;
  std::vector<TraceStream> streams;
  std::vector<DeviceEvent> device_events;
  std::vector<DeviceDetail> details;
  std::vector<HostEvent> host_events;
  std::vector<Flow> flows;
  std::vector<SyncEvent> syncs;
  std::vector<Sample> samples;
  std::vector<ThreadSpan> thread_spans;
  std::vector<ThreadTotal> thread_totals;
  std::vector<StackSample> stack_samples;
  std::vector<StackFrame> stacks;
  std::vector<KernelMetric> kernel_metrics;
  std::vector<KernelAdvice> kernel_advice;
  std::vector<Step> steps;
  std::vector<Loss> losses;

  std::string_view name(const DeviceEvent& event) const { return names[event.name]; }
  std::string_view name(const HostEvent& event) const { return names[event.name]; }
  std::uint32_t device_of(const DeviceEvent& event) const { return streams[event.stream].device; }
};

static_assert(sizeof(DeviceEvent) == 40 && sizeof(HostEvent) == 40);

// "truncated: 1 (after byte 812)" for people.
std::string describe(const Loss& loss);
std::string_view name(LossKind kind);
std::string_view name(WaitReason reason);

}  // namespace amdahl::model
