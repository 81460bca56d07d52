// The C++ rules and their conditions.
#include <array>
#include <string_view>

#include "code/looks.h"
#include "code/rule.h"

namespace amdahl::code {
namespace {

using Names = std::string_view;

bool has_word(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

// The third argument says whether the call blocks; an expression may.
std::optional<Match> waits(const Subject& subject) {
  const Argument* blocking = argument_at(subject.site, 2);
  if (blocking == nullptr || blocking->text == "CL_FALSE") return std::nullopt;
  if (blocking->text == "CL_TRUE") return Match{"the call blocks: CL_TRUE", {}};
  if (!has_word(blocking->text, "CL_TRUE")) return std::nullopt;
  return Match{"the call may block: " + std::string(blocking->text.substr(0, 60)), {}};
}

// A new line without forcing it out: the same text, later.
std::optional<Match> end_of_line(const Subject& subject) {
  if (subject.site.name != "endl") return Match{};
  return Match{{}, replace(subject.site.range, "'\\n'")};
}

std::optional<Match> is_lock(const Subject& subject) {
  if (subject.site.name == "lock" && subject.site.receiver.empty()) return std::nullopt;
  return Match{};
}

std::optional<Match> is_std(const Subject& subject) {
  if (!subject.site.callee.starts_with("std::") && subject.site.name != "pthread_create") {
    return std::nullopt;
  }
  return Match{};
}

std::optional<Match> thread_variable(const Subject& subject) {
  const Argument* name = argument_at(subject.site, 0);
  if (name == nullptr || !has_word(name->text, "_NUM_THREADS")) return std::nullopt;
  return Match{};
}

// "loss.item<float>()", not a function of that name.
std::optional<Match> is_method(const Subject& subject) {
  if (subject.site.receiver.empty()) return std::nullopt;
  return Match{};
}

constexpr auto kWaits = std::to_array<Names>(
    {"clFinish", "clWaitForEvents", "cudaDeviceSynchronize", "cudaStreamSynchronize",
     "cudaEventSynchronize", "cudaThreadSynchronize", "cuCtxSynchronize", "cuStreamSynchronize",
     "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize"});
constexpr auto kReads = std::to_array<Names>({"clEnqueueReadBuffer", "clEnqueueMapBuffer"});
constexpr auto kWrites = std::to_array<Names>({"clEnqueueWriteBuffer"});
constexpr auto kCopies = std::to_array<Names>({"cudaMemcpy", "cudaMemcpy2D", "cudaMemcpyToSymbol",
                                               "cuMemcpyHtoD", "cuMemcpyDtoH", "hipMemcpy"});
constexpr auto kDeviceMemory =
    std::to_array<Names>({"clCreateBuffer", "clCreateImage", "cudaMalloc", "cudaMallocHost",
                          "cudaHostAlloc", "cudaFree", "cuMemAlloc", "hipMalloc", "hipFree"});
constexpr auto kHostMemory = std::to_array<Names>(
    {"new", "malloc", "calloc", "make_unique", "make_shared", "aligned_alloc"});
constexpr auto kFlush = std::to_array<Names>({"endl", "flush"});
constexpr auto kFlushCalls = std::to_array<Names>({"flush", "fflush"});
constexpr auto kPrints =
    std::to_array<Names>({"printf", "fprintf", "fmt::print", "fmt::println", "puts", "fputs",
                          "fwrite", "spdlog::info", "spdlog::debug"});
constexpr auto kForce = std::to_array<Names>({"fsync", "fdatasync"});
constexpr auto kBuilds =
    std::to_array<Names>({"clBuildProgram", "clCompileProgram", "nvrtcCompileProgram",
                          "hiprtcCompileProgram", "cuModuleLoadData"});
constexpr auto kLocks = std::to_array<Names>(
    {"lock_guard", "unique_lock", "scoped_lock", "shared_lock", "lock", "pthread_mutex_lock"});
constexpr auto kThreads =
    std::to_array<Names>({"std::thread", "std::jthread", "std::async", "pthread_create"});
constexpr auto kSleeps =
    std::to_array<Names>({"sleep_for", "sleep_until", "usleep", "nanosleep", "sleep"});
constexpr auto kThreadCounts =
    std::to_array<Names>({"omp_set_num_threads", "openblas_set_num_threads", "mkl_set_num_threads",
                          "set_num_threads", "setNumThreads"});
constexpr auto kSetenv = std::to_array<Names>({"setenv", "putenv"});
constexpr auto kProcesses = std::to_array<Names>({"system", "popen", "posix_spawn", "fork"});
constexpr auto kOpens =
    std::to_array<Names>({"fopen", "std::ifstream", "imread", "imdecode", "stbi_load", "mmap"});

constexpr auto kScalars = std::to_array<Names>({"item", "cpu"});
constexpr auto kSaves = std::to_array<Names>({"torch::save", "save_checkpoint"});
constexpr auto kHostCopies = std::to_array<Names>({"memcpy", "clone", "contiguous"});

constexpr auto kSync = std::to_array<Names>({"sync_share"});
constexpr auto kCheckpoint = std::to_array<Names>({"checkpoint_share"});
constexpr auto kMove = std::to_array<Names>({"copy_share", "serial_share"});
constexpr auto kCopy = std::to_array<Names>({"copy_share", "sync_share"});
constexpr auto kLog = std::to_array<Names>({"logging_share"});
constexpr auto kForced = std::to_array<Names>({"logging_share", "checkpoint_share"});
constexpr auto kSerial = std::to_array<Names>({"serial_share"});
constexpr auto kWarmup = std::to_array<Names>({"warmup_share"});
constexpr auto kWakeups = std::to_array<Names>({"wakeup_share", "own_threads_share"});
constexpr auto kContention = std::to_array<Names>({"own_threads_share", "wakeup_share"});
constexpr auto kInput = std::to_array<Names>({"input_wait_share"});

// Threads that are too many slow each other down where they compute.
constexpr auto kOfThreads = std::to_array<Names>({"compute_share", "serial_share"});

using enum SiteKind;
using enum HowOften;
constexpr auto kC = Language::kCpp;

constexpr auto kRules = std::to_array<Rule>({
    {"blocking-read",
     kC,
     kCall,
     kStep,
     kReads,
     "the host waits for a result in every step",
     "CL_FALSE and an event; wait for it a step later (clWaitForEvents) or every N steps",
     kSync,
     "range-check-less-often",
     {},
     waits},
    {"device-wait", kC, kCall, kStep, kWaits, "the host waits for the device in every step",
     "keep several steps in the queue, and wait for the oldest", kSync, "queue-depth"},
    {"scalar-fetch",
     kC,
     kCall,
     kStep,
     kScalars,
     "a value is fetched from the device in every step",
     "keep it on the device, and fetch many values at once",
     kSync,
     "metric-less-often",
     {},
     is_method},
    {"blocking-write",
     kC,
     kCall,
     kStep,
     kWrites,
     "the host waits until a batch is copied",
     "CL_FALSE on a second command queue, from CL_MEM_ALLOC_HOST_PTR memory, in parallel to the "
     "step",
     kCopy,
     "overlap-copies",
     {},
     waits},
    {"blocking-memcpy", kC, kCall, kStep, kCopies, "the host waits until a batch is copied",
     "an asynchronous copy, from pinned memory, on a separate stream", kCopy, "overlap-copies"},
    {"device-allocation", kC, kCall, kStep, kDeviceMemory,
     "device memory is allocated in every step, which waits for the device",
     "allocate it once before the loop", kSerial, ""},
    {"host-allocation",
     kC,
     kCall,
     kStep,
     kHostMemory,
     "memory is allocated in every step",
     "allocate it once before the loop",
     kSerial,
     "",
     {},
     nullptr,
     Cost::kOnlyHere},
    {"host-copy",
     kC,
     kCall,
     kStep,
     kHostCopies,
     "data is copied in every step",
     "check whether the following code works without the copy",
     kMove,
     "",
     {},
     nullptr,
     Cost::kOnlyHere},
    {"flush-name",
     kC,
     kName,
     kStep,
     kFlush,
     "each line is flushed",
     "'\\n' in place of std::endl",
     kLog,
     "log-less-often",
     {},
     end_of_line},
    {"flush", kC, kCall, kStep, kFlushCalls, "each line is flushed",
     "let the buffer fill, or flush every N steps", kLog, "log-less-often"},
    {"print", kC, kCall, kStep, kPrints, "something is written in every step",
     "write every N steps, or from another thread", kLog, "log-less-often"},
    {"disk-wait", kC, kCall, kLoop, kForce, "each write waits for the disk",
     "do not fsync data that can be regenerated", kForced, "fsync-off"},
    {"state-write", kC, kCall, kLoop, kSaves, "state is written while the step waits",
     "write it less often, or in the background from a copy", kCheckpoint, "checkpoint-less-often"},
    {"kernel-build",
     kC,
     kCall,
     kOnce,
     kBuilds,
     "kernels are compiled in every run",
     "keep the binary, or set the driver's cache directory to a persistent one",
     kWarmup,
     "kernel-cache",
     {},
     nullptr,
     Cost::kElsewhere},
    {"lock",
     kC,
     kCall,
     kStep,
     kLocks,
     "a lock is taken in every step",
     "pass many items at a time",
     kWakeups,
     "",
     {},
     is_lock},
    {"thread-start",
     kC,
     kCall,
     kLoop,
     kThreads,
     "a thread is started in every loop iteration",
     "start a thread pool once and give it work",
     kWakeups,
     "",
     {},
     is_std},
    {"sleeping", kC, kCall, kStep, kSleeps, "the program sleeps in every step",
     "wait for the event instead", kSerial, ""},
    {"threads-set",
     kC,
     kCall,
     kOnce,
     kThreadCounts,
     "the number of threads is set here",
     "use as many threads as the job has CPUs",
     kContention,
     "threads-as-accelerators",
     {"threads_per_cpu", 1.05},
     nullptr,
     Cost::kElsewhere,
     kOfThreads},
    {"threads-exported",
     kC,
     kCall,
     kOnce,
     kSetenv,
     "the number of threads is set here",
     "use as many threads as the job has CPUs",
     kContention,
     "threads-environment",
     {"threads_per_cpu", 1.05},
     thread_variable,
     Cost::kElsewhere,
     kOfThreads},
    {"process-start", kC, kCall, kStep, kProcesses, "a process is started in every step",
     "start it once, or call the library", kSerial, ""},
    {"file-open", kC, kCall, kStep, kOpens, "a file is opened or decoded in every step",
     "keep the decoded form, and read ahead in another thread", kInput, "decoded-cache"},
});

}  // namespace

std::span<const Rule> cpp_rules() { return kRules; }

}  // namespace amdahl::code
