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
  CauseKind cause;
  std::string_view advice;
};

constexpr auto kNamed = std::to_array<Named>({
    {causes::kCheckpoint, "save in the background, less often, or only what changed"},
    {causes::kWarmup,
     "keep compiled kernels between runs (a cache directory), and compile fewer shapes"},
    {causes::kImports, "import only what is used, where it is used; run more work in one process"},
    {causes::kStartup, "cache what every run repeats (verification, downloads, decoding)"},
    {causes::kTeardown, "write results while the steps run; do not wait for workers one by one"},
    {causes::kLogging, "log less often and from a buffer, without fsync"},
    {causes::kWrittenFiles,
     "write less often, from another thread, and without fsync for data that can be regenerated"},
    {causes::kSync,
     "avoid .item(), .cpu(), blocking reads and checks in the step; do them every few steps"},
    {causes::kCopiesIn, "pinned memory, larger batches, and copies that overlap with compute"},
    {causes::kInputWait, "more loader workers, prefetch deeper, cache decoded inputs"},
    {causes::kOtherThread,
     "put a queue between the two threads, or give the other thread less work"},
    {causes::kProcesses,
     "use a library or a shell builtin instead, or start one process for all items"},
    {causes::kSleeping, "wait for the event instead of a fixed time, or sleep outside the steps"},
    {causes::kHostWork, "larger batches, less Python in the step, a compiled model"},
    {causes::kIdleDevices,
     "larger batches, prepare the next step in parallel (queue depth, a second thread)"},
    {causes::kSpare, "request fewer, or give each more work at once"},
    {causes::kOwnQuota, "raise the quota (cpu.max, --cpus-per-task), or use fewer threads"},
    {causes::kOwnThreads,
     "fewer threads: OMP_NUM_THREADS, loader workers, OMP_WAIT_POLICY=passive"},
    {causes::kOtherWork, "dedicated CPUs (exclusive nodes, pinning), or another host"},
    {causes::kSteal, "another host or instance type"},
});

// In the order of Why.
constexpr std::array<std::string_view, kWhys> kOfWhy = {
    "larger batches, lower precision, a compiled or fused model",
    "host copies: overlap them with compute (pinned memory, non_blocking=True), or keep the data "
    "on the "
    "device; device copies: fewer "
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
    "record host events and correlations too (ProfilerActivity.CPU and CUDA; nsys "
    "--trace=cuda,nvtx,osrt; rocprofv3 --sys-trace), and check for other processes on the device "
    "and for work that the profiler does not record",
};

// Advice that differs for jobs without PyTorch.
struct FrameworkAdvice {
  Framework framework;
  std::string_view cause;  // The id of a cause, or the name of a bottleneck.
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

constexpr std::string_view kCompiledHost =
    "it is compiled already: CUDA graphs (torch.compile(mode=\"reduce-overhead\")), fewer graph "
    "breaks, larger batches";

constexpr std::string_view kServerHost =
    "CUDA graphs for more batch sizes (vLLM without --enforce-eager, SGLang without "
    "--disable-cuda-graph), scheduling that overlaps with the step before (vLLM "
    "--async-scheduling), more requests at once";
constexpr std::string_view kJaxHost =
    "one jax.jit around the whole step, several steps in one call (jax.lax.scan), larger batches";

constexpr auto kFrameworkAdvice = std::to_array<FrameworkAdvice>({
    {Framework::kCompiled, causes::kHostWork.id, kCompiledHost},
    {Framework::kCompiled, causes::kLaunching.id, kCompiledHost},
    {Framework::kServer, causes::kHostWork.id, kServerHost},
    {Framework::kServer, causes::kLaunching.id, kServerHost},
    {Framework::kServer, causes::kExposedCollectives.id,
     "custom or symmetric-memory all-reduce for small messages (vLLM and SGLang choose them within "
     "a node), fewer tensor-parallel ranks, larger batches"},
    {Framework::kJax, causes::kHostWork.id, kJaxHost},
    {Framework::kJax, causes::kLaunching.id, kJaxHost},
    {Framework::kJax, causes::kDeviceWait.id,
     "no block_until_ready(), float() or device_get() in the step; read metrics every few steps"},
    {Framework::kJax, causes::kExposedCopies.id,
     "put the next batch on the device during the step (jax.device_put), donate buffers "
     "(donate_argnums), or keep the data on the device"},
    {Framework::kJax, causes::kExposedCollectives.id,
     "let XLA hide them (--xla_gpu_enable_latency_hiding_scheduler=true), larger messages, another "
     "sharding"},
    {Framework::kJax, causes::kWarmup.id,
     "keep compiled programs between runs (jax_compilation_cache_dir), compile fewer shapes; to "
     "see the steady state, record after the first steps"},
    {Framework::kJax, causes::kUnexplained.id,
     "record host events too (jax.profiler.ProfileOptions, host_tracer_level=2), and check for "
     "other processes on the device"},
    {Framework::kNative, causes::kDeviceWait.id, kNativeSync},
    {Framework::kNative, causes::kLaunching.id,
     "CUDA graphs (one launch instead of many), fewer and larger kernels"},
    {Framework::kNative, causes::kExposedCopies.id,
     "overlap copies with kernels (pinned memory, asynchronous copies on a second stream), or keep "
     "the data on the device"},
    {Framework::kNative, causes::kExposedCollectives.id,
     "overlap communication with compute, fewer and larger messages"},
    {Framework::kNative, causes::kKernel.id, "larger problems, lower precision, fused kernels"},
    {Framework::kNative, causes::kSync.id, kNativeSync},
    {Framework::kNative, causes::kInputWait.id, kNativeInput},
    {Framework::kNative, causes::kHostWork.id, kNativeHost},
    {Framework::kNative, "input", kNativeInput},
    {Framework::kNative, "serial", kNativeHost},
    {Framework::kNative, "sync", kNativeSync},
    {Framework::kOpenCl, causes::kKernel.id, "larger batches, lower precision, fused kernels"},
    {Framework::kOpenCl, causes::kSync.id, kOpenClSync},
    {Framework::kOpenCl, causes::kDeviceWait.id, kOpenClSync},
    {Framework::kOpenCl, "sync", kOpenClSync},
    {Framework::kOpenCl, causes::kCopiesIn.id, kOpenClCopies},
    {Framework::kOpenCl, causes::kExposedCopies.id, kOpenClCopies},
    {Framework::kOpenCl, causes::kInputWait.id, kNativeInput},
    {Framework::kOpenCl, "input", kNativeInput},
    {Framework::kOpenCl, causes::kHostWork.id, kNativeHost},
    {Framework::kOpenCl, "serial", kNativeHost},
    {Framework::kOpenCl, causes::kLaunching.id, "fewer and larger kernels, larger batches"},
    {Framework::kOpenCl, causes::kQueued.id,
     "fuse small kernels; use a second or an out-of-order command queue"},
    {Framework::kOpenCl, causes::kWarmup.id,
     "keep compiled binaries (clGetProgramInfo, or the driver's cache directory) between runs"},
    {Framework::kOpenCl, causes::kGc.id, "allocate buffers once before the loop"},
    {Framework::kOpenCl, causes::kUnexplained.id,
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
  if (evidence.contains(kOpenClCalls)) return Framework::kOpenCl;
  if (evidence.contains(kNativeKernels)) return Framework::kNative;
  if (evidence.contains(kJaxSources)) return Framework::kJax;
  if (evidence.contains(kServerSteps)) return Framework::kServer;
  return evidence.contains(kCompiledCalls) ? Framework::kCompiled : Framework::kTorch;
}

Framework framework_of_job(const std::map<std::string, double>& evidence) {
  const auto hook = evidence.lower_bound("hook.");
  if (hook != evidence.end() && hook->first.starts_with("hook.")) return Framework::kTorch;
  return evidence.contains(kOpenClCalls) ? Framework::kOpenCl : Framework::kNative;
}

std::string_view what_to_try(const model::Cause& cause, Framework framework) {
  if (cause.bottleneck == Bottleneck::kUnknown) return by_class(cause.bottleneck);
  if (const auto said = advice_in(framework, cause.id)) return *said;
  const auto named =
      std::ranges::find(kNamed, cause.id, [](const Named& row) { return row.cause.id; });
  if (named != kNamed.end()) return named->advice;
  if (const auto why = why_of(cause)) return what_to_try(*why, framework);
  return advice_in(framework, name(cause.bottleneck)).value_or(by_class(cause.bottleneck));
}

std::string_view what_to_try(Why why, Framework framework) {
  return advice_in(framework, whys()[at(why)].cause.id).value_or(kOfWhy[at(why)]);
}

Bottleneck class_of(std::string_view evidence) {
  for (const Kind& kind : kinds()) {
    if (kind.share == evidence) return kind.bottleneck;
  }
  const auto found = std::ranges::find(kClasses, evidence, &Of::evidence);
  return found == kClasses.end() ? Bottleneck::kUnknown : found->bottleneck;
}

}  // namespace amdahl::profile
