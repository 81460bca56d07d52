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
    {"start-up", "cache what every run repeats (verification, downloads, decoding)"},
    {"teardown", "write results while the steps run; do not wait for workers one by one"},
    {"logging", "log less often and from a buffer, without fsync"},
    {"waiting for written files",
     "write less often, from another thread, and without fsync for data that can be regenerated"},
    {"synchronisation",
     "avoid .item(), .cpu(), blocking reads and checks in the step; do them every few steps"},
    {"copies to the device", "pinned memory, larger batches, and copies that overlap with compute"},
    {"waiting for input", "more loader workers, prefetch deeper, cache decoded inputs"},
    {"waiting for another thread",
     "put a queue between the two threads, or give the other thread less work"},
    {"starting processes",
     "use a library or a shell builtin instead, or start one process for all items"},
    {"sleeping", "wait for the event instead of a fixed time, or sleep outside the steps"},
    {"CPU work between launches", "larger batches, less Python in the step, a compiled model"},
    {"CPU work while the accelerators wait",
     "larger batches, prepare the next step in parallel (queue depth, a second thread)"},
    {"more accelerators than it uses", "request fewer, or give each more work at once"},
    {"its own CPU quota", "raise the quota (cpu.max, --cpus-per-task), or use fewer threads"},
    {"more threads of its own than CPUs",
     "fewer threads: OMP_NUM_THREADS, loader workers, OMP_WAIT_POLICY=passive"},
    {"other work on the host", "dedicated CPUs (exclusive nodes, pinning), or another host"},
    {"CPU time taken by the hypervisor", "another host or instance type"},
});

// In the order of Why.
constexpr std::array<std::string_view, kWhys> kOfWhy = {
    "larger batches, lower precision, a compiled or fused model",
    "host copies: pinned memory and overlap with compute (non_blocking=True); device copies: fewer "
    "clone(), cat() and contiguous()",
    "overlap communication with backward, larger buckets, fewer and larger messages",
    "more loader workers, prefetch deeper, pin memory, cache decoded inputs",
    "CUDA graphs or torch.compile, larger batches, less Python in the step",
    "avoid .item(), .cpu() and synchronize in the step; read metrics every few steps",
    "CUDA graphs or torch.compile (one launch instead of many); fused optimizers",
    "fuse small kernels, or launch them as one CUDA graph",
    "log less often, and from a buffer",
    "save in the background, less often, or only what changed",
    "gc.freeze() after start-up, or call gc.collect() between epochs",
    "profile fewer steps, without stacks and shapes",
    "balance the work of the ranks; check the slow rank's host and input first",
    "keep compiled kernels between runs (a cache directory), compile fewer shapes, run more work "
    "in one process; to see the steady state, record after the first steps",
    "record host events and correlations too (ProfilerActivity.CPU and CUDA), and check for other "
    "processes on the device and for work that the profiler does not record",
};

// Advice that differs for jobs without PyTorch.
struct FrameworkAdvice {
  Framework framework;
  std::string_view cause;  // A cause's name, a reason's description, or a bottleneck's name.
  std::string_view advice;
};

constexpr std::string_view kNativeInput =
    "read and decode in more threads in parallel to the step, and cache decoded inputs";
constexpr std::string_view kNativeHost =
    "larger batches, several steps in the queue, prepare the next step in another thread";
constexpr std::string_view kNativeSync =
    "avoid blocking reads, synchronisation, checks and logging in the step; do them every few "
    "steps";
constexpr std::string_view kOpenClCopies =
    "pinned host memory (CL_MEM_ALLOC_HOST_PTR) and CL_FALSE on a second command queue, so that "
    "copies overlap with compute";
constexpr std::string_view kOpenClSync =
    "CL_FALSE instead of CL_TRUE and clFinish, then clWaitForEvents a step later or every few "
    "steps";

constexpr auto kFrameworkAdvice = std::to_array<FrameworkAdvice>({
    {Framework::kNative, "synchronisation", kNativeSync},
    {Framework::kNative, "waiting for input", kNativeInput},
    {Framework::kNative, "CPU work between launches", kNativeHost},
    {Framework::kNative, "input", kNativeInput},
    {Framework::kNative, "serial", kNativeHost},
    {Framework::kNative, "sync", kNativeSync},
    {Framework::kOpenCl, "kernels", "larger batches, lower precision, fused kernels"},
    {Framework::kOpenCl, "synchronisation", kOpenClSync},
    {Framework::kOpenCl, "the host waits for the device", kOpenClSync},
    {Framework::kOpenCl, "sync", kOpenClSync},
    {Framework::kOpenCl, "copies to the device", kOpenClCopies},
    {Framework::kOpenCl, "copies that nothing hides", kOpenClCopies},
    {Framework::kOpenCl, "waiting for input", kNativeInput},
    {Framework::kOpenCl, "input", kNativeInput},
    {Framework::kOpenCl, "CPU work between launches", kNativeHost},
    {Framework::kOpenCl, "serial", kNativeHost},
    {Framework::kOpenCl, "launching", "fewer and larger kernels, larger batches"},
    {Framework::kOpenCl, "queued work that has not started",
     "fuse small kernels; use a second or an out-of-order command queue"},
    {Framework::kOpenCl, "warm-up",
     "keep compiled binaries (clGetProgramInfo, or the driver's cache directory) between runs"},
    {Framework::kOpenCl, "garbage collection", "allocate buffers once before the loop"},
    {Framework::kOpenCl, "waiting that nothing explains",
     "run the job with amdahl profile -- CMD to record calls and waits"},
});

std::optional<std::string_view> advice_in(Framework framework, std::string_view cause) {
  const auto found = std::ranges::find_if(kFrameworkAdvice, [&](const FrameworkAdvice& row) {
    return row.framework == framework && row.cause == cause;
  });
  if (found == kFrameworkAdvice.end()) return std::nullopt;
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

Framework framework_of_trace(const std::map<std::string, double>& evidence) {
  return evidence.contains(kOpenClCalls) ? Framework::kOpenCl : Framework::kTorch;
}

Framework framework_of_job(const std::map<std::string, double>& evidence) {
  const auto hook = evidence.lower_bound("hook.");
  if (hook != evidence.end() && hook->first.starts_with("hook.")) return Framework::kTorch;
  return evidence.contains(kOpenClCalls) ? Framework::kOpenCl : Framework::kNative;
}

std::string_view what_to_try(const model::Cause& cause, Framework framework) {
  if (cause.bottleneck == Bottleneck::kUnknown) return by_class(cause.bottleneck);
  const std::string_view first = split(cause.name, ',').front();
  if (const auto said = advice_in(framework, first)) return *said;
  const auto named = std::ranges::find(kNamed, first, &Named::cause);
  if (named != kNamed.end()) return named->advice;
  const auto row = std::ranges::find(whys(), first, &WhyRow::describe);
  if (row != whys().end()) return what_to_try(row->why, framework);
  return advice_in(framework, name(cause.bottleneck)).value_or(by_class(cause.bottleneck));
}

std::string_view what_to_try(Why why, Framework framework) {
  return advice_in(framework, describe(why)).value_or(kOfWhy[at(why)]);
}

Bottleneck class_of(std::string_view evidence) {
  for (const Kind& kind : kinds()) {
    if (kind.share == evidence) return kind.bottleneck;
  }
  const auto found = std::ranges::find(kClasses, evidence, &Of::evidence);
  return found == kClasses.end() ? Bottleneck::kUnknown : found->bottleneck;
}

}  // namespace amdahl::profile
