#include "profile/trace_names.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "base/text.h"
#include "profile/communication.h"
#include "profile/phases.h"

namespace amdahl::profile {
namespace {

using std::string_view_literals::operator""sv;

bool has_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains(text, part); });
}

constexpr auto kSyncOps =
    std::to_array({"aten::item"sv, "aten::_local_scalar_dense"sv, "aten::is_nonzero"sv});

constexpr auto kHostComm =
    std::to_array({"gloo:"sv, "mpi:"sv, "ucc:"sv, "c10d::barrier"sv, "c10d::monitored_barrier"sv});

constexpr auto kPythonInput = std::to_array(
    {"torch/utils/data/"sv, "dataloader.py("sv, "<built-in function decode"sv, "webdataset/"sv,
     "transformers/image_"sv, "/image_processing_"sv, "/video_processing_"sv,
     "/feature_extraction_"sv, "transformers/video_utils"sv, "transformers/audio_utils"sv,
     "torchvision/transforms/"sv, "torchvision/io/"sv, "albumentations/"sv, "librosa/"sv,
     ": read_video"sv, ": load_image"sv, ": load_video"sv, ": load_audio"sv});
constexpr auto kPythonSave = std::to_array(
    {"torch/serialization.py("sv, "torch.save"sv, "distributed/checkpoint/"sv, "safetensors/"sv});
constexpr auto kPythonLogging =
    std::to_array({"logging/__init__.py("sv, "<built-in function print>"sv, "tqdm/"sv, "wandb/"sv,
                   "tensorboard"sv, "mlflow/"sv});
constexpr auto kGarbage =
    std::to_array({"gc.collect"sv, "<built-in function collect>"sv, "built-in method collect of"sv,
                   "garbage collect"sv, "python gc"sv});

constexpr std::string_view kStep = "ProfilerStep#";

// What compiles when it is first run: TorchDynamo, Inductor, Triton, extensions.
constexpr auto kPythonCompile =
    std::to_array({"torch/_dynamo/convert_frame.py("sv, "torch/_inductor/compile_fx.py("sv,
                   "torch/_inductor/async_compile.py("sv, "triton/compiler/"sv,
                   "torch/utils/cpp_extension.py("sv});
// Calls that load or compile device code or make a context, after the library's prefix.
constexpr auto kLoads =
    std::to_array({"ModuleLoad"sv, "LibraryLoad"sv, "LinkCreate"sv, "LinkAdd"sv, "LinkComplete"sv,
                   "GraphInstantiate"sv, "CtxCreate"sv, "DevicePrimaryCtxRetain"sv, "Init"sv});
// The overheads that CUPTI reports and that are the job's own: without a profiler they are there.
constexpr auto kOverheadLoads = std::to_array(
    {"Driver Compiler"sv, "Runtime Triggered Module Loading"sv, "Lazy Function Loading"sv});

bool is_range(std::string_view name) {
  return name.starts_with(kStep) || name.starts_with("enumerate(DataLoader)"sv) ||
         name.starts_with("Optimizer."sv) || name.starts_with("## "sv);
}

bool is_op(std::string_view name) {
  return contains(name, ", op_id = "sv) || name.starts_with("aten::"sv) ||
         name.starts_with("autograd::"sv);
}

// Annotations that hold a word of a phase and speak of something else.
constexpr auto kNotPhases = std::to_array(
    {"DataParallel"sv, "all2all"sv, "alltoall"sv, "data_dist"sv, "input_dist"sv, "::"sv});

// What is decoded for a model, while a language model itself decodes too.
constexpr auto kDecoded = std::to_array({"image"sv, "jpeg"sv, "jpg"sv, "png"sv, "video"sv,
                                         "frame"sv, "audio"sv, "record"sv, "sample"sv});

bool is_generation(std::string_view name) {
  const std::string text = lower(name);
  return contains(text, "decode"sv) && text != "decode" && !has_any(text, kDecoded);
}

Why phase_why(std::string_view name) {
  if (has_any(name, kNotPhases) || is_generation(name)) return Why::kHost;
  const Kind* kind = kind_of(name);
  if (kind == nullptr) return Why::kHost;
  if (kind->share == "input_wait_share"sv || kind->share == "copy_share"sv) return Why::kInput;
  if (kind->share == "checkpoint_share"sv) return Why::kCheckpoint;
  if (kind->share == "logging_share"sv) return Why::kLogging;
  return Why::kHost;
}

Why python_why(std::string_view name) {
  if (has_any(name, kPythonInput)) return Why::kInput;
  if (has_any(name, kPythonSave) && contains(name, "save"sv)) return Why::kCheckpoint;
  if (has_any(name, kPythonCompile)) return Why::kWarmup;
  // The thread of tqdm that watches sleeps all the time.
  if (has_any(name, kPythonLogging) && !contains(name, "tqdm/_monitor"sv)) return Why::kLogging;
  return Why::kHost;
}

// Calls of the system in which a thread waits for others, for input or for time.
constexpr auto kSleeps =
    std::to_array({"poll"sv,         "ppoll"sv,        "select"sv,        "pselect"sv,
                   "pselect6"sv,     "epoll_wait"sv,   "epoll_pwait"sv,   "epoll_pwait2"sv,
                   "futex"sv,        "sem_wait"sv,     "sem_timedwait"sv, "sem_clockwait"sv,
                   "pthread_join"sv, "pause"sv,        "nanosleep"sv,     "clock_nanosleep"sv,
                   "usleep"sv,       "sleep"sv,        "wait"sv,          "wait3"sv,
                   "wait4"sv,        "waitid"sv,       "waitpid"sv,       "sigwait"sv,
                   "sigwaitinfo"sv,  "sigtimedwait"sv, "sigsuspend"sv,    "accept"sv,
                   "accept4"sv,      "msgrcv"sv,       "mq_receive"sv,    "mq_timedreceive"sv,
                   "sched_yield"sv,  "io_getevents"sv});
constexpr auto kSleepPrefixes =
    std::to_array({"pthread_cond_"sv, "pthread_barrier_wait"sv, "pthread_mutex_"sv,
                   "pthread_rwlock_"sv, "pthread_timedjoin"sv, "pthread_clockjoin"sv, "recv"sv});

bool is_sleep(std::string_view call) {
  const auto starts = [&](std::string_view prefix) { return call.starts_with(prefix); };
  return std::ranges::find(kSleeps, call) != kSleeps.end() ||
         std::ranges::any_of(kSleepPrefixes, starts);
}

// "cudaLaunchKernel_v7000" without the library's prefix: "LaunchKernel_v7000".
std::string_view without_library(std::string_view call) {
  for (const std::string_view prefix : {"cuda"sv, "hip"sv, "mtia"sv, "cu"sv}) {
    if (call.starts_with(prefix)) return call.substr(prefix.size());
  }
  return {};
}

bool loads(std::string_view call) {
  if (contains(call, "rtcCompileProgram"sv) || call.starts_with("clBuildProgram"sv)) return true;
  const std::string_view verb = without_library(call);
  const auto starts = [&](std::string_view load) { return verb.starts_with(load); };
  return std::ranges::any_of(kLoads, starts);
}

bool waits_for_device(std::string_view call) {
  const std::string_view verb = without_library(call);
  return verb.starts_with("DeviceSynchronize"sv) || verb.starts_with("CtxSynchronize"sv);
}

// OpenCL's verbs; the injected library marks the calls that wait for their command.
Api opencl_api(std::string_view verb) {
  if (verb.starts_with("Finish"sv) || verb.starts_with("WaitForEvents"sv)) return Api::kSync;
  if (!verb.starts_with("Enqueue"sv)) return Api::kOther;
  if (contains(verb, "Kernel"sv)) return Api::kLaunch;
  if (contains(verb, "(blocking)"sv)) return Api::kBlockingCopy;
  return contains(verb, "Fill"sv) ? Api::kSet : Api::kCopy;
}

// What the drivers under SYCL (Intel) and CANN (Ascend) call the same.
struct Verb {
  std::string_view starts;
  std::string_view has;
  Api api;
};
constexpr auto kVerbs = std::to_array<Verb>({
    {"ur", "KernelLaunch", Api::kLaunch},
    {"ur", "EventWait", Api::kSync},
    {"ur", "QueueFinish", Api::kSync},
    {"ur", "EventsWait", Api::kStreamWait},
    {"ur", "EnqueueUSMMemcpy", Api::kCopy},
    {"ur", "EnqueueMemBuffer", Api::kCopy},
    {"ur", "EnqueueUSMFill", Api::kSet},
    {"ur", "USMFree", Api::kFree},
    {"pi", "KernelLaunch", Api::kLaunch},
    {"pi", "EventsWait", Api::kSync},
    {"pi", "QueueFinish", Api::kSync},
    {"pi", "EnqueueMemcpy", Api::kCopy},
    {"pi", "EnqueueMemset", Api::kSet},
    {"pi", "USMFree", Api::kFree},
    {"ze", "LaunchKernel", Api::kLaunch},
    {"ze", "LaunchCooperativeKernel", Api::kLaunch},
    {"ze", "Synchronize", Api::kSync},
    {"ze", "AppendMemoryCopy", Api::kCopy},
    {"ze", "AppendMemoryFill", Api::kSet},
    {"ze", "AppendWaitOnEvents", Api::kStreamWait},
    {"ze", "MemFree", Api::kFree},
    {"Node@", "launch", Api::kLaunch},
    {"AscendCL@", "aclrtSynchronize", Api::kSync},
    {"AscendCL@", "aclrtMemcpyAsync", Api::kCopy},
    {"AscendCL@", "aclrtMemcpy", Api::kBlockingCopy},
    {"AscendCL@", "aclrtLaunchKernel", Api::kLaunch},
});

Api other_api(std::string_view call) {
  for (const Verb& verb : kVerbs) {
    if (call.starts_with(verb.starts) && contains(call, verb.has)) return verb.api;
  }
  return Api::kOther;
}

}  // namespace

Api api_of(std::string_view call) {
  if (call.starts_with("cl"sv)) return opencl_api(call.substr(2));
  const std::string_view verb = without_library(call);
  if (verb.empty()) return other_api(call);
  if (contains(verb, "Launch"sv) && !contains(verb, "LaunchHostFunc"sv)) return Api::kLaunch;
  if (contains(verb, "Synchronize"sv)) return Api::kSync;
  if (verb.starts_with("StreamWaitEvent"sv)) return Api::kStreamWait;
  if (verb.starts_with("Memcpy"sv)) {
    return contains(verb, "Async"sv) ? Api::kCopy : Api::kBlockingCopy;
  }
  if (verb.starts_with("Memset"sv)) return Api::kSet;
  if (verb.starts_with("Free"sv) && !contains(verb, "Async"sv)) return Api::kFree;
  if (verb.starts_with("MemFree"sv) && !contains(verb, "Async"sv)) return Api::kFree;
  return Api::kOther;
}

Why host_why(std::string_view name, model::HostKind kind) {
  if (kind == model::HostKind::kOverhead) {
    return has_any(name, kOverheadLoads) ? Why::kWarmup : Why::kProfiler;
  }
  if (kind == model::HostKind::kRuntime || kind == model::HostKind::kDriver) {
    if (loads(name)) return Why::kWarmup;
    const Api api = api_of(name);
    if (api == Api::kSync || api == Api::kBlockingCopy) return Why::kSync;
    if (api == Api::kLaunch || api == Api::kCopy || api == Api::kSet) return Why::kLaunch;
    return Why::kHost;
  }
  if (contains(name, "DataLoader"sv) && contains(name, "__next__"sv)) return Why::kInput;
  if (has_any(name, kGarbage) || name == "GC"sv) return Why::kGc;
  if (has_any(name, kHostComm)) return Why::kComm;
  if (std::ranges::find(kSyncOps, name) != kSyncOps.end()) return Why::kSync;
  if (kind == model::HostKind::kPython) return python_why(name);
  if (kind == model::HostKind::kAnnotation) return phase_why(name);
  return Why::kHost;
}

TraceNames::TraceNames(const model::Trace& trace) {
  std::unordered_map<std::string_view, std::uint32_t> labels;
  rows_.resize(trace.names.size());
  for (std::uint32_t i = 0; i < trace.names.size(); ++i) {
    const std::string_view name = trace.names[i];
    const std::uint32_t label = labels.try_emplace(without_number(name), i).first->second;
    rows_[i] = {.api = api_of(name),
                .is_communication = !communication_library(name).empty(),
                .label = label,
                .is_range = is_range(name),
                .is_op = is_op(name),
                .is_step = name.starts_with(kStep),
                .is_graph = api_of(name) == Api::kLaunch && contains(name, "GraphLaunch"sv),
                .sleeps = is_sleep(name),
                .loads = loads(name),
                .syncs_device = waits_for_device(name),
                .op = host_why(name, model::HostKind::kOp),
                .python = host_why(name, model::HostKind::kPython),
                .annotation = host_why(name, model::HostKind::kAnnotation),
                .overhead = host_why(name, model::HostKind::kOverhead)};
  }
}

std::string_view TraceNames::without_number(std::string_view name) {
  return name.substr(0, std::min(name.find(", seq = "sv), name.find(", op_id = "sv)));
}

Api TraceNames::api(const model::HostEvent& event) const {
  if (event.kind != model::HostKind::kRuntime && event.kind != model::HostKind::kDriver) {
    return Api::kOther;
  }
  return rows_[event.name].api;
}

bool TraceNames::is_communication(const model::DeviceEvent& event) const {
  return event.kind == model::DeviceKind::kKernel && rows_[event.name].is_communication;
}

model::HostKind TraceNames::kind(const model::HostEvent& event) const {
  if (event.kind == model::HostKind::kOp && rows_[event.name].is_range) {
    return model::HostKind::kAnnotation;
  }
  if (event.kind == model::HostKind::kAnnotation && rows_[event.name].is_op) {
    return model::HostKind::kOp;
  }
  return event.kind;
}

bool TraceNames::is_silent(const model::HostEvent& event) const {
  const model::HostKind of = kind(event);
  if (of == model::HostKind::kOther) return rows_[event.name].sleeps;
  return of == model::HostKind::kAnnotation || of == model::HostKind::kPython;
}

bool TraceNames::is_of_system(const model::HostEvent& event) const {
  return event.kind == model::HostKind::kOther;
}

Why TraceNames::host(const model::HostEvent& event) const {
  const Row& row = rows_[event.name];
  switch (kind(event)) {
    case model::HostKind::kOverhead:
      return row.overhead;
    case model::HostKind::kAnnotation:
      return row.annotation;
    case model::HostKind::kPython:
      return row.python;
    case model::HostKind::kOp:
    case model::HostKind::kOther:
      return row.op;
    case model::HostKind::kRuntime:
    case model::HostKind::kDriver:
      break;
  }
  if (row.loads) return Why::kWarmup;
  if (row.api == Api::kSync || row.api == Api::kBlockingCopy) return Why::kSync;
  const bool launches = row.api == Api::kLaunch || row.api == Api::kCopy || row.api == Api::kSet;
  return launches ? Why::kLaunch : Why::kHost;
}

Why TraceNames::device(const model::DeviceEvent& event) const {
  if (event.kind != model::DeviceKind::kKernel) return Why::kCopy;
  return rows_[event.name].is_communication ? Why::kComm : Why::kKernel;
}

}  // namespace amdahl::profile
