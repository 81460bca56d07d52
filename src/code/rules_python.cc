// The rules for Python.
#include <array>
#include <string_view>

#include "code/looks_python.h"
#include "code/rule.h"

namespace amdahl::code {
namespace python {
namespace {

using Names = std::string_view;

constexpr auto kDataLoader = std::to_array<Names>({"DataLoader"});
constexpr auto kScalars = std::to_array<Names>({"item", "cpu", "numpy", "tolist"});
constexpr auto kChecks =
    std::to_array<Names>({"item", "any", "all", "isfinite", "isnan", "isinf", "equal", "allclose"});
constexpr auto kFsync = std::to_array<Names>({"os.fsync", "fsync", "fdatasync"});
constexpr auto kSaves = std::to_array<Names>(
    {"torch.save", "save_checkpoint", "save_pretrained", "pickle.dump", "np.save", "save_state"});
constexpr auto kSynchronize =
    std::to_array<Names>({"synchronize", "block_until_ready", "mark_step"});
constexpr auto kThreads = std::to_array<Names>(
    {"set_num_threads", "set_num_interop_threads", "setNumThreads", "threadpool_limits"});
constexpr auto kSetDefault = std::to_array<Names>({"setdefault", "putenv"});
constexpr auto kDecode =
    std::to_array<Names>({"Image.open", "imread", "imdecode", "read_image", "decode_image",
                          "decode_jpeg", "json.load", "json.loads", "np.load", "torch.load",
                          "read_csv", "read_parquet", "librosa.load", "h5py.File"});
constexpr auto kReads =
    std::to_array<Names>({"open", "sha256", "md5", "sha1", "crc32", "Image.open", "imread", "stat",
                          "convert", "resize", "verify"});
constexpr auto kAllocate = std::to_array<Names>(
    {"torch.zeros", "torch.ones", "torch.empty", "torch.full", "torch.rand", "torch.randn",
     "torch.tensor", "torch.arange", "torch.eye", "torch.linspace", "np.zeros", "np.empty"});
constexpr auto kCopies = std::to_array<Names>({"to", "cuda"});
constexpr auto kContiguous = std::to_array<Names>({"contiguous", "deepcopy", "clone"});
constexpr auto kDetach = std::to_array<Names>({"detach"});
constexpr auto kCollect = std::to_array<Names>({"gc.collect"});
constexpr auto kEmptyCache = std::to_array<Names>({"empty_cache"});
constexpr auto kSleep = std::to_array<Names>({"time.sleep", "sleep"});
constexpr auto kProcesses =
    std::to_array<Names>({"subprocess.run", "subprocess.call", "check_output", "check_call",
                          "Popen", "os.system", "os.popen"});

constexpr auto kInput = std::to_array<Names>({"input_wait_share"});
constexpr auto kCopy = std::to_array<Names>({"copy_share"});
constexpr auto kSync = std::to_array<Names>({"sync_share", "serial_share"});
constexpr auto kSyncOnly = std::to_array<Names>({"sync_share"});
constexpr auto kLogged = std::to_array<Names>({"logging_share", "sync_share"});
constexpr auto kLog = std::to_array<Names>({"logging_share"});
constexpr auto kForced = std::to_array<Names>({"logging_share", "hook.fsync_share"});
constexpr auto kCheckpoint = std::to_array<Names>({"checkpoint_share", "hook.save_share"});
constexpr auto kContention = std::to_array<Names>({"own_threads_share", "wakeup_share"});
constexpr auto kSerial = std::to_array<Names>({"serial_share"});
constexpr auto kMove = std::to_array<Names>({"copy_share", "serial_share"});
constexpr auto kGarbage = std::to_array<Names>({"hook.gc_share", "serial_share"});
constexpr auto kImports = std::to_array<Names>({"import_share"});
constexpr auto kStartup = std::to_array<Names>({"startup_share"});
constexpr auto kWaits = std::to_array<Names>({"serial_share", "input_wait_share"});

// What a setting affects beyond its own cost. Gradients are recorded inside every operator, and
// what was kept for them is freed at the end; too many threads slow each other down; loaders take
// CPUs from the step; returned memory must be requested again.
constexpr auto kOfGradients = std::to_array<Names>({"compute_share", "teardown_share"});
constexpr auto kOfThreads = std::to_array<Names>({"compute_share", "serial_share"});
constexpr auto kOfLoaders = std::to_array<Names>({"own_threads_share", "teardown_share"});
constexpr auto kOfMemory = std::to_array<Names>({"compute_share"});

using enum SiteKind;
using enum HowOften;
constexpr auto kPy = Language::kPython;

constexpr auto kRules = std::to_array<Rule>({
    {"loader-workers",
     kPy,
     kCall,
     kOnce,
     kDataLoader,
     "a loader that runs in the step's own thread, or with few workers",
     "load in worker processes: num_workers of 2 to 4 per accelerator",
     kInput,
     "loader-workers-more",
     {},
     python::loader_workers,
     Cost::kElsewhere,
     kOfLoaders},
    {"loader-persistent",
     kPy,
     kCall,
     kOnce,
     kDataLoader,
     "workers are restarted for each epoch",
     "keep the workers: persistent_workers=True",
     kInput,
     "persistent-workers",
     {},
     python::loader_persistent,
     Cost::kElsewhere,
     kOfLoaders},
    {"loader-prefetch",
     kPy,
     kCall,
     kOnce,
     kDataLoader,
     "workers prefetch too few batches",
     "prefetch more: prefetch_factor of 4 or more",
     kInput,
     "prefetch-deeper",
     {},
     python::loader_prefetch,
     Cost::kElsewhere,
     kOfLoaders},
    {"loader-pin",
     kPy,
     kCall,
     kOnce,
     kDataLoader,
     "batches are not in pinned memory",
     "pin_memory=True, with non_blocking=True where they are copied",
     kCopy,
     "pin-memory",
     {},
     python::loader_pin,
     Cost::kElsewhere},
    {"range-check",
     kPy,
     kCall,
     kStep,
     kChecks,
     "a check of values that waits for the device in every step",
     "check every N steps, or accumulate on the device and check once",
     kSync,
     "range-check-less-often",
     {},
     python::range_check},
    {"logged-scalar",
     kPy,
     kCall,
     kStep,
     kScalars,
     "a value is fetched from the device for a log in every step",
     "log every N steps, or keep the values on the device and fetch them together",
     kLogged,
     "log-less-often",
     {},
     python::logged_scalar},
    {"scalar-sync",
     kPy,
     kCall,
     kStep,
     kScalars,
     "a value is fetched from the device in every step",
     "keep it on the device, and fetch many values at once",
     kSync,
     "metric-less-often",
     {},
     python::scalar_sync},
    {"logging",
     kPy,
     kCall,
     kStep,
     {},
     "something is written in every step",
     "write every N steps, or from another thread",
     kLog,
     "log-less-often",
     {},
     python::logging},
    {"fsync",
     kPy,
     kCall,
     kLoop,
     kFsync,
     "each write waits for the disk",
     "do not fsync data that can be regenerated",
     kForced,
     "fsync-off",
     {},
     python::log_fsync},
    {"checkpoint-fsync",
     kPy,
     kCall,
     kLoop,
     kFsync,
     "each checkpoint waits for the disk",
     "write them less often, or in the background",
     kCheckpoint,
     "checkpoint-less-often",
     {},
     python::checkpoint_fsync},
    {"checkpoint", kPy, kCall, kLoop, kSaves, "state is written while the step waits",
     "write it less often, or in the background from a copy", kCheckpoint, "checkpoint-less-often"},
    {"synchronize",
     kPy,
     kCall,
     kStep,
     kSynchronize,
     "the host waits for the device in every step",
     "remove it: reading a result waits anyway",
     kSyncOnly,
     "",
     {},
     python::synchronize},
    {"thread-count",
     kPy,
     kCall,
     kOnce,
     kThreads,
     "the number of threads is set here",
     "use as many threads as the job has CPUs, loader workers included",
     kContention,
     "threads-as-accelerators",
     {"threads_per_cpu", 1.05},
     nullptr,
     Cost::kElsewhere,
     kOfThreads},
    {"thread-default",
     kPy,
     kCall,
     kOnce,
     kSetDefault,
     "the number of threads is set here",
     "use as many threads as the job has CPUs, loader workers included",
     kContention,
     "threads-environment",
     {"threads_per_cpu", 1.05},
     python::thread_default,
     Cost::kElsewhere,
     kOfThreads},
    {"thread-variable",
     kPy,
     kAssign,
     kOnce,
     {},
     "the number of threads is set here",
     "use as many threads as the job has CPUs, loader workers included",
     kContention,
     "threads-environment",
     {"threads_per_cpu", 1.05},
     python::thread_variable,
     Cost::kElsewhere,
     kOfThreads},
    {"decode",
     kPy,
     kCall,
     kLoader,
     kDecode,
     "inputs are read and decoded for each item",
     "keep the decoded form: in memory, or as one mapped file",
     kInput,
     "decoded-cache",
     {},
     python::same_each_time,
     Cost::kElsewhere,
     kOfLoaders},
    {"startup-reads",
     kPy,
     kCall,
     kLoop,
     kReads,
     "all files are opened before the first step",
     "check each file when it is used, or once when it is created",
     kStartup,
     "skip-verification",
     {},
     python::startup_read},
    {"allocation",
     kPy,
     kCall,
     kStep,
     kAllocate,
     "memory is allocated in every step",
     "allocate it once before the loop and fill it in place",
     kSerial,
     "",
     {},
     python::same_each_time},
    {"blocking-copy",
     kPy,
     kCall,
     kStep,
     kCopies,
     "the host waits until a batch is copied",
     "non_blocking=True, from pinned memory",
     kCopy,
     "overlap-copies",
     {},
     python::blocking_copy},
    {"clone-detach",
     kPy,
     kCall,
     kLoop,
     kDetach,
     "a copy that autograd records needlessly",
     "detach first, then copy",
     kMove,
     "",
     {},
     python::clone_detach},
    {"needless-copy",
     kPy,
     kCall,
     kStep,
     kContiguous,
     "data is copied in every step",
     "check whether the following code works without the copy",
     kMove,
     "",
     {},
     python::needless_copy},
    {"inference-mode",
     kPy,
     SiteKind::kWholeLoop,
     kOnce,
     {},
     "evaluation that records gradients",
     "run the loop under torch.inference_mode()",
     kSerial,
     "inference-mode",
     {"hook.grad_enabled_share", 0.5},
     python::inference_mode,
     Cost::kElsewhere,
     kOfGradients},
    {"garbage",
     kPy,
     kCall,
     kStep,
     kCollect,
     "the garbage collector runs in every step",
     "let it run by itself, or freeze long-lived objects: gc.freeze()",
     kGarbage,
     "",
     {},
     python::can_be_dropped},
    {"empty-cache",
     kPy,
     kCall,
     kStep,
     kEmptyCache,
     "the allocator releases its memory in every step and allocates it again",
     "remove it",
     kSync,
     "",
     {},
     python::can_be_dropped,
     Cost::kHere,
     kOfMemory},
    {"sleep", kPy, kCall, kLoader, kSleep, "the program sleeps in every step",
     "wait for the event instead", kWaits, ""},
    {"process", kPy, kCall, kLoader, kProcesses, "a process is started in every step",
     "start it once, or call the library", kWaits, ""},
    {"unused-import",
     kPy,
     kImport,
     kOnce,
     {},
     "an unused module is imported",
     "import it where it is used",
     kImports,
     "lazy-imports",
     {},
     python::unused_import,
     Cost::kOnlyHere},
    {"import-in-step",
     kPy,
     kImport,
     kStep,
     {},
     "an import is looked up in every step",
     "import it at the top",
     kSerial,
     "",
     {},
     nullptr,
     Cost::kOnlyHere},
});

}  // namespace
}  // namespace python

std::span<const Rule> python_rules() { return python::kRules; }

}  // namespace amdahl::code
