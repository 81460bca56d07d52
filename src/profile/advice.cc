#include "profile/advice.h"

#include <algorithm>
#include <array>

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

std::string_view what_to_try(const model::Cause& cause) {
  const std::string_view first = split(cause.name, ',').front();
  const auto named = std::ranges::find(kNamed, first, &Named::cause);
  return named != kNamed.end() ? named->advice : by_class(cause.bottleneck);
}

Bottleneck class_of(std::string_view evidence) {
  for (const Kind& kind : kinds()) {
    if (kind.share == evidence) return kind.bottleneck;
  }
  const auto found = std::ranges::find(kClasses, evidence, &Of::evidence);
  return found == kClasses.end() ? Bottleneck::kUnknown : found->bottleneck;
}

}  // namespace amdahl::profile
