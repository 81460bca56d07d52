// trace.h: profiler events of a job on one time line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/string_pool.h"

namespace amdahl::model {

// Rows refer to each other by index, so that a million events take a few dozen megabytes. Texts
// are indices into Trace::names. kNone means "unknown" in every field that holds an index.
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

enum class Clock : std::uint8_t {
  kUnix,     // Unix time: sources can be overlaid.
  kBoot,     // Since boot (CLOCK_MONOTONIC or CLOCK_BOOTTIME): comparable within one host.
  kUnknown,  // Unknown origin: comparable within the source only.
};

// One file, or one collector's stream. `base` is already added to all its times.
struct TraceSource {
  std::string file{};    // For people.
  std::string format{};  // Reader's name: "kineto", "nsys".
  std::string host{};
  std::string backend{};   // "nccl", "gloo"; empty if the job is not distributed.
  std::int32_t rank = -1;  // -1: unknown.
  std::int32_t world_size = 0;
  Clock clock = Clock::kUnknown;
  Nanos base{};
  std::uint64_t bytes = 0;  // Unpacked bytes that were read.
  Nanos first_event{};      // Start of the first event in file order; 0: unknown.
};

// A host process. A thread belongs to one process of one source.
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

// An accelerator as one source sees it. Seen by two sources, it has two rows.
struct TraceDevice {
  std::uint32_t source = kNone;
  std::int64_t id = 0;
  std::uint32_t name = 0;  // "NVIDIA A100-PG509-200".
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
};

// A queue of a device as one process sees it.
struct TraceStream {
  std::uint32_t device = kNone;
  std::uint32_t process = kNone;  // kNone: correlations are unique within the source.
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

// An activity of a device. 40 bytes. Kernels, copies and sets keep the device busy; syncs and
// annotations do not.
struct DeviceEvent {
  Nanos start{};
  Nanos duration{};  // Never negative.
  std::uint32_t name = 0;
  std::uint32_t stream = kNone;   // Index into Trace::streams.
  std::uint32_t correlation = 0;  // Same as the launch's; 0: none.
  std::uint32_t launch = kNone;   // Index into Trace::host_events; set by TraceBuilder::finish().
  std::uint32_t detail = kNone;   // Index into Trace::details.
  DeviceKind kind = DeviceKind::kKernel;
  CopyKind copy = CopyKind::kUnknown;
  HostMemory host_memory = HostMemory::kUnknown;  // Host side of a copy.
  std::uint8_t occupancy = kUnknownOccupancy;     // Percent, for kernels.

  Nanos end() const { return start + duration; }
};

// Details that only some device events have.
struct DeviceDetail {
  std::uint64_t bytes = 0;       // Copied or set.
  std::uint64_t graph_node = 0;  // CUDA graph node; 0: launched on its own.
  std::uint64_t elements = 0;    // Input elements of a collective.
  std::uint32_t collective = 0;  // Name: "allreduce".
  std::uint32_t element_type = 0;
  std::uint32_t group = 0;  // Name of the process group.
  std::uint32_t group_size = 0;
};

enum class HostKind : std::uint8_t {
  kOp,          // A framework's operator.
  kRuntime,     // A call of the device's runtime API (cuda, hip, mtia).
  kDriver,      // A call of the driver API.
  kPython,      // A Python function: "file.py(12): name".
  kAnnotation,  // A range that the job marked: record_function, NVTX, ProfilerStep.
  kOverhead,    // Overhead of the profiler itself.
  kOther,
};

inline constexpr std::uint32_t kLastInputs = 0xFFFFFF;  // The largest HostEvent::inputs.

// An activity of a host thread. 40 bytes.
struct HostEvent {
  Nanos start{};
  Nanos duration{};  // Never negative.
  std::uint32_t name = 0;
  std::uint32_t thread = kNone;   // Index into Trace::threads.
  std::uint32_t correlation = 0;  // For runtime and driver calls; 0: none.
  std::uint32_t parent = kNone;   // Enclosing event on its thread; set by finish().
  std::uint32_t stack = kNone;    // Index into Trace::stacks, if known.
  HostKind kind = HostKind::kOther;
  // Of an operator whose work follows from its inputs: number of their text in Trace::names,
  // "[[8, 4], [4, 2]]|["float", "float"]|["", ""]" (shapes, types, other values), or of a
  // collective "allreduce|Float|1024|8|0" (type, elements, ranks, group). 0: not recorded.
  std::uint32_t inputs : 24 = 0;

  Nanos end() const { return start + duration; }
};

// A link between two host events, such as an operator's forward and backward pass.
struct Flow {
  Nanos from{};  // Inside the event where the flow starts.
  Nanos to{};
  std::uint32_t from_thread = kNone;
  std::uint32_t to_thread = kNone;
  std::uint32_t name = 0;  // "fwdbwd".
};

enum class SyncKind : std::uint8_t {
  kUnknown,
  kDevice,      // The host waits for the whole device.
  kStream,      // The host waits for a stream.
  kEvent,       // The host waits for an event.
  kStreamWait,  // A stream waits for an event of another stream; the host does not wait.
};

// A recorded synchronisation (cuda_sync). Its host call has the same correlation.
struct SyncEvent {
  Nanos start{};
  Nanos duration{};
  SyncKind kind = SyncKind::kUnknown;
  std::uint32_t stream = kNone;  // The waiting stream, or the one that the host waits for.
  std::uint32_t correlation = 0;
  std::uint32_t awaited_stream = kNone;  // For kStreamWait and kEvent.
  std::uint32_t record_correlation = 0;  // Correlation of the call that recorded the event.
};

// A value at a point in time: memory, utilisation. `device` is kNone if it belongs to no device.
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
  kDevice,  // ioctl of the accelerator's driver.
  kChild,   // wait() and similar calls.
};

// An interval of a thread as the scheduler saw it. A blocked interval ends at the wake-up; the
// runnable interval after it is the wait for a CPU.
struct ThreadSpan {
  Nanos start{};
  Nanos duration{};
  std::uint32_t thread = kNone;
  std::uint32_t waker = kNone;  // Thread that ended the wait; kNone: an interrupt, or unknown.
  std::uint32_t stack = kNone;
  ThreadState state = ThreadState::kRunning;
  WaitReason reason = WaitReason::kUnknown;  // Only if blocked.
};

// Totals, from collectors that do not record single intervals.
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

// A thread sampled at a place in the code (perf).
struct StackSample {
  Nanos at{};
  std::uint64_t weight = 1;  // In the unit of `event`: periods, nanoseconds.
  std::uint32_t thread = kNone;
  std::uint32_t stack = kNone;
  std::uint32_t event = 0;  // Name: "cpu-clock".
};

// One frame of a call stack; `caller` leads to the next outer frame. Frames are shared between
// stacks.
struct StackFrame {
  std::uint32_t caller = kNone;  // Index into Trace::stacks; kNone: outermost.
  std::uint32_t function = 0;    // Name, with file and line if known.
};

// A metric of one kernel launch (Nsight Compute).
struct KernelMetric {
  std::uint32_t kernel = 0;  // Name.
  std::uint32_t launch = 0;  // Index of the launch in the report.
  std::uint32_t metric = 0;  // Name.
  std::uint32_t unit = 0;    // Name.
  double value = 0;
};

struct KernelAdvice {
  std::uint32_t kernel = 0;
  std::uint32_t launch = 0;
  std::uint32_t rule = 0;  // Name.
  std::uint32_t text = 0;
  double speedup_percent = 0;  // Estimated; 0: not given.
  bool global = false;         // For the whole kernel, not one resource.
};

// A step marked by the profiler: ProfilerStep#12.
struct Step {
  Nanos start{};
  Nanos duration{};
  std::int64_t number = 0;
  std::uint32_t thread = kNone;
};

// An operation of one worker of a job that trains in pipeline stages, as the job's own timers saw
// it. A worker is one stage of one replica (data-parallel rank).
struct Operation {
  Nanos start{};
  Nanos duration{};        // Never negative.
  std::int64_t step = 0;   // Number of the step.
  std::uint32_t name = 0;  // "forward-compute", "grads-reduce-scatter".
  std::int32_t replica = 0;
  std::int32_t stage = 0;
  std::int32_t chunk = -1;  // Of the model, where a stage holds several; -1: not said.
};

// Why a reader dropped or changed data. Every kind is counted.
enum class LossKind : std::uint8_t {
  kTruncated,         // The file ends in the middle; bytes after the last complete event.
  kUnreadable,        // Events that are not JSON, rows that do not parse.
  kNoTime,            // Events without a time, or with NaN.
  kNegativeDuration,  // Set to 0.
  kTimeRange,         // Times beyond ±292 years.
  kDuplicateKey,      // The first one is used.
  kControlCharacter,  // A control character that JSON forbids in a text; the text is kept.
  kUnknownKind,       // Events of an unknown category.
  kNoDevice,          // Device events that do not name their device.
  kTooLong,           // Truncated names, and events above the size limit.
  kUnmatchedFlow,     // A flow with only one end.
  kMerged,            // Host events merged into their parents to stay within the memory budget.
  kBudget,            // Bytes not read because the memory budget was used up.
  kMissingTable,      // A table that other versions of the format have.
};

struct Loss {
  std::uint32_t source = kNone;
  LossKind kind = LossKind::kUnreadable;
  std::uint64_t count = 0;
  std::string example{};  // Place and value of the first one.
};

// Plain data. TraceBuilder::finish() sorts device_events, host_events, syncs, samples and
// thread_spans by start. For host events with the same start the longer one is first, so that a
// parent always precedes its children.
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
  std::vector<Operation> operations;
  std::vector<Loss> losses;

  std::string_view name(const DeviceEvent& event) const { return names[event.name]; }
  std::string_view name(const HostEvent& event) const { return names[event.name]; }
  std::uint32_t device_of(const DeviceEvent& event) const { return streams[event.stream].device; }
};

static_assert(sizeof(DeviceEvent) == 40 && sizeof(HostEvent) == 40);

// For people: "truncated: 1 (after byte 812)".
std::string describe(const Loss& loss);
std::string_view name(LossKind kind);
std::string_view name(WaitReason reason);

}  // namespace amdahl::model
