#include "profile/advice.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "profile/phases.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;

struct Named {
  std::string_view cause;  // The first of its names.
  std::string_view advice;
};

constexpr auto kNamed = std::to_array<Named>({
    {"checkpoints", "save in the background, less often, or only what changed"},
    {"warm-up", "keep compiled kernels between runs (a cache directory), and compile fewer shapes"},
    {"imports", "import only what is used, where it is used; run more work in one process"},
    {"start-up", "do once and keep what every run does again (verification, downloads, decoding)"},
    {"teardown", "write results while the steps run; do not wait for workers one by one"},
    {"logging", "log less often and from a buffer, without fsync"},
    {"waiting for written files",
     "write less often, from another thread, and without fsync where it can be written again"},
    {"synchronisation",
     "no .item(), .cpu(), blocking reads or checks in the step; do them every few steps"},
    {"copies to the device", "pinned memory, larger batches, and copies that overlap with compute"},
    {"waiting for input", "more loader workers, prefetch deeper, decode once and keep it"},
    {"waiting for another thread",
     "a queue between the two, so that neither waits, or less work in the other"},
    {"starting processes",
     "do it in the process itself (a library, what the shell has built in), or start one for all"},
    {"sleeping", "wait for the event itself rather than for a time, or sleep beside the steps"},
    {"CPU work between launches", "larger batches, less Python in the step, a compiled model"},
    {"CPU work while the accelerators wait",
     "larger batches, prepare the next step meanwhile (queue depth, a second thread)"},
    {"more accelerators than it uses", "ask for fewer, or give each more work at once"},
    {"its own CPU quota", "raise the quota (cpu.max, --cpus-per-task), or use fewer threads"},
    {"more threads of its own than CPUs",
     "fewer threads: OMP_NUM_THREADS, loader workers, OMP_WAIT_POLICY=passive"},
    {"other work on the host", "CPUs of its own (exclusive nodes, pinning), or another host"},
    {"CPU time taken by the hypervisor", "another host or kind of instance"},
});

// By what a trace says of the time.
constexpr std::array<std::string_view, kWhys> kOfWhy = {
    "larger batches, lower precision, a compiled or fused model",
    "from and to the host, pinned memory and copies that overlap with compute (non_blocking=True); "
    "within a device, fewer clone(), cat() and contiguous()",
    "overlap communication with backward, larger buckets, fewer and larger messages",
    "more loader workers, prefetch deeper, pin memory, decode once and keep it",
    "CUDA graphs or torch.compile, larger batches, less Python in the step",
    "no .item(), .cpu() or synchronize in the step; read metrics every few steps",
    "CUDA graphs or torch.compile so that one launch does for many; fused optimizers",
    "fuse small kernels, or launch them as one CUDA graph",
    "log less often, and from a buffer",
    "save in the background, less often, or only what changed",
    "gc.freeze() after start-up, or collect by hand between epochs",
    "profile fewer steps, without stacks and shapes",
    "even out the work of the ranks; look at the slow rank's host and input first",
    "keep compiled kernels between runs (a cache directory), compile fewer shapes, run more work "
    "in "
    "one process; to see the steady state, record after the first steps",
    "record host events and correlations too (ProfilerActivity.CPU and CUDA), and look for what "
    "else "
    "used the device: other processes, work that the profiler does not record",
};

// What is said otherwise to jobs that are not PyTorch's.
struct Spoken {
  Tongue tongue;
  std::string_view cause;  // A name, the describing words of a reason, or a class.
  std::string_view advice;
};

constexpr std::string_view kNativeInput =
    "read and decode in more threads beside the step, and keep what was decoded";
constexpr std::string_view kNativeHost =
    "larger batches, several steps in the queue, the next one prepared in another thread";
constexpr std::string_view kNativeSync =
    "no blocking reads, synchronisation, checks or log lines in the step; do them every few steps";
constexpr std::string_view kOpenClCopies =
    "host memory of CL_MEM_ALLOC_HOST_PTR (pinned), and CL_FALSE on a second command queue, so "
    "that copies overlap with compute";
constexpr std::string_view kOpenClSync =
    "CL_FALSE in place of CL_TRUE and clFinish, then clWaitForEvents on the event that is needed, "
    "a step later or every few steps";

constexpr auto kSpoken = std::to_array<Spoken>({
    {Tongue::kNative, "synchronisation", kNativeSync},
    {Tongue::kNative, "waiting for input", kNativeInput},
    {Tongue::kNative, "CPU work between launches", kNativeHost},
    {Tongue::kNative, "input", kNativeInput},
    {Tongue::kNative, "serial", kNativeHost},
    {Tongue::kNative, "sync", kNativeSync},
    {Tongue::kOpenCl, "kernels", "larger batches, lower precision, fused kernels"},
    {Tongue::kOpenCl, "synchronisation", kOpenClSync},
    {Tongue::kOpenCl, "the host waits for the device", kOpenClSync},
    {Tongue::kOpenCl, "sync", kOpenClSync},
    {Tongue::kOpenCl, "copies to the device", kOpenClCopies},
    {Tongue::kOpenCl, "copies that nothing hides", kOpenClCopies},
    {Tongue::kOpenCl, "waiting for input", kNativeInput},
    {Tongue::kOpenCl, "input", kNativeInput},
    {Tongue::kOpenCl, "CPU work between launches", kNativeHost},
    {Tongue::kOpenCl, "serial", kNativeHost},
    {Tongue::kOpenCl, "launching", "fewer and larger kernels, larger batches"},
    {Tongue::kOpenCl, "queued work that has not started",
     "fuse small kernels; a second command queue, or one that is out of order"},
    {Tongue::kOpenCl, "warm-up",
     "keep the binaries of clGetProgramInfo (or the driver's cache directory) between runs"},
    {Tongue::kOpenCl, "garbage collection", "make buffers once before the loop"},
    {Tongue::kOpenCl, "waiting that nothing explains",
     "let amdahl run the job (amdahl profile -- CMD), so that calls and waits are recorded"},
});

std::optional<std::string_view> spoken(Tongue tongue, std::string_view cause) {
  const auto found = std::ranges::find_if(
      kSpoken, [&](const Spoken& row) { return row.tongue == tongue && row.cause == cause; });
  if (found == kSpoken.end()) return std::nullopt;
  return found->advice;
}

// For causes under any other name.
constexpr std::string_view by_class(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::kInput:
      return "more loader workers, prefetch deeper, decode once and keep it";
    case Bottleneck::kContention:
      return "fewer threads of its own, or CPUs that nobody else uses";
    case Bottleneck::kCommunication:
      return "overlap communication with compute, fewer and larger messages, even out the ranks";
    case Bottleneck::kLifecycle:
      return "do once and keep what every run does again; run more work in one process";
    case Bottleneck::kSerial:
      return "larger batches, less Python in the step, a compiled model";
    case Bottleneck::kWakeups:
      return "larger pieces of work for each wake-up: larger batches, fewer threads and queues";
    case Bottleneck::kSync:
      return "no .item(), blocking reads, checks or log lines in the step; do them every few steps";
    case Bottleneck::kAllocation:
      return "ask for fewer accelerators, or give each more work at once";
    case Bottleneck::kUnknown:
      return "let the job report its phases (docs/format/report.md), or profile it with --nsys";
    case Bottleneck::kCompute:
      break;
  }
  return "";
}

struct Of {
  std::string_view evidence;
  Bottleneck bottleneck;
};

// Beside the shares of phases.
constexpr auto kClasses = std::to_array<Of>({
    {"hook.fsync_share", Bottleneck::kSync},
    {"hook.save_share", Bottleneck::kLifecycle},
    {"hook.gc_share", Bottleneck::kSerial},
    {"own_threads_share", Bottleneck::kContention},
    {"contention_share", Bottleneck::kContention},
    {"wakeup_share", Bottleneck::kWakeups},
    {"allocation_share", Bottleneck::kAllocation},
});

}  // namespace

Tongue tongue_of_trace(const std::map<std::string, double>& evidence) {
  return evidence.contains(kOpenClCalls) ? Tongue::kOpenCl : Tongue::kTorch;
}

Tongue tongue_of_job(const std::map<std::string, double>& evidence) {
  const auto hook = evidence.lower_bound("hook.");
  if (hook != evidence.end() && hook->first.starts_with("hook.")) return Tongue::kTorch;
  return evidence.contains(kOpenClCalls) ? Tongue::kOpenCl : Tongue::kNative;
}

std::string_view what_to_try(const model::Cause& cause, Tongue tongue) {
  if (cause.bottleneck == Bottleneck::kUnknown) return by_class(cause.bottleneck);
  const std::string_view first = split(cause.name, ',').front();
  if (const auto said = spoken(tongue, first)) return *said;
  const auto named = std::ranges::find(kNamed, first, &Named::cause);
  if (named != kNamed.end()) return named->advice;
  const auto row = std::ranges::find(whys(), first, &WhyRow::describe);
  if (row != whys().end()) return what_to_try(row->why, tongue);
  return spoken(tongue, name(cause.bottleneck)).value_or(by_class(cause.bottleneck));
}

std::string_view what_to_try(Why why, Tongue tongue) {
  return spoken(tongue, describe(why)).value_or(kOfWhy[at(why)]);
}

Bottleneck class_of(std::string_view evidence) {
  for (const Kind& kind : kinds()) {
    if (kind.share == evidence) return kind.bottleneck;
  }
  const auto found = std::ranges::find(kClasses, evidence, &Of::evidence);
  return found == kClasses.end() ? Bottleneck::kUnknown : found->bottleneck;
}

}  // namespace amdahl::profile
