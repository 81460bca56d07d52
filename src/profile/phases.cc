#include "profile/phases.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using std::string_view_literals::operator""sv;

constexpr auto kCheckpoint = std::to_array({"checkpoint"sv, "checkpoints"sv, "checkpointing"sv,
                                            "ckpt"sv, "save"sv, "saving"sv, "snapshot"sv});
constexpr auto kWarmup = std::to_array({"jit"sv, "compile"sv, "compiling"sv, "compilation"sv,
                                        "warmup"sv, "warm"sv, "autotune"sv, "tuning"sv});
constexpr auto kImport = std::to_array({"import"sv, "imports"sv, "importing"sv});
constexpr auto kStartup =
    std::to_array({"startup"sv, "start"sv, "starting"sv, "init"sv, "initialise"sv, "initialize"sv,
                   "initialisation"sv, "initialization"sv, "setup"sv, "boot"sv, "verify"sv,
                   "verification"sv, "restore"sv});
constexpr auto kTeardown = std::to_array({"teardown"sv, "finish"sv, "finishing"sv, "finalise"sv,
                                          "finalize"sv, "shutdown"sv, "cleanup"sv, "exit"sv});
constexpr auto kLogging = std::to_array({"log"sv, "logs"sv, "logging"sv, "metric"sv, "metrics"sv});
constexpr auto kSync = std::to_array(
    {"sync"sv, "synchronise"sv, "synchronize"sv, "range"sv, "check"sv, "checks"sv, "item"sv});
constexpr auto kCommunication = std::to_array(
    {"comm"sv, "communication"sv, "allreduce"sv, "reduce"sv, "allgather"sv, "gather"sv, "scatter"sv,
     "broadcast"sv, "barrier"sv, "collective"sv, "nccl"sv, "gloo"sv, "rccl"sv});
constexpr auto kCopy = std::to_array(
    {"h2d"sv, "d2h"sv, "copy"sv, "copies"sv, "memcpy"sv, "upload"sv, "transfer"sv, "transfers"sv});
constexpr auto kInput =
    std::to_array({"input"sv, "inputs"sv, "data"sv, "dataloader"sv, "dataset"sv, "load"sv,
                   "loading"sv, "loader"sv, "decode"sv, "decoding"sv, "read"sv, "reading"sv,
                   "fetch"sv, "prefetch"sv, "augment"sv, "preprocess"sv, "preprocessing"sv});
constexpr auto kSerial = std::to_array({"postprocess"sv, "postprocessing"sv, "tokenise"sv,
                                        "tokenize"sv, "python"sv, "host"sv, "cpu"sv, "gc"sv});
constexpr auto kCompute = std::to_array(
    {"compute"sv, "forward"sv, "backward"sv, "model"sv, "gemm"sv, "matmul"sv, "kernel"sv,
     "kernels"sv, "inference"sv, "predict"sv, "step"sv, "optimizer"sv, "optimiser"sv});

// In this order, so that "save_log" is a checkpoint, "compute_metrics" is logging, "model_init" is
// start-up and "copy_input" is a copy: the more telling word comes first.
constexpr auto kKinds = std::to_array<Kind>({
    {"checkpoint_share", causes::kCheckpoint, Bottleneck::kLifecycle, kCheckpoint},
    {"warmup_share", causes::kWarmup, Bottleneck::kLifecycle, kWarmup},
    {"import_share", causes::kImports, Bottleneck::kLifecycle, kImport},
    {"startup_share", causes::kStartup, Bottleneck::kLifecycle, kStartup},
    {"teardown_share", causes::kTeardown, Bottleneck::kLifecycle, kTeardown},
    {"logging_share", causes::kLogging, Bottleneck::kSync, kLogging},
    {"sync_share", causes::kSync, Bottleneck::kSync, kSync},
    {"communication_share", causes::kCollectives, Bottleneck::kCommunication, kCommunication},
    {"copy_share", causes::kCopiesIn, Bottleneck::kInput, kCopy},
    {"input_wait_share", causes::kInputWait, Bottleneck::kInput, kInput},
    {"serial_share", causes::kHostWork, Bottleneck::kSerial, kSerial},
    {"compute_share", causes::kCompute, Bottleneck::kCompute, kCompute},
});

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_hump = is_upper(c) && i > 0 && is_lower(name[i - 1]);
    if (is_hump && !words.back().empty()) words.emplace_back();
    if (is_lower(c) || is_digit(c)) {
      words.back() += c;
    } else if (is_upper(c)) {
      words.back() += static_cast<char>(c - 'A' + 'a');
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool any_of(std::span<const std::string> words, std::span<const std::string_view> wanted) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return std::ranges::find(wanted, std::string_view(word)) != wanted.end();
  });
}

const Kind& startup() {
  return *std::ranges::find(kKinds, std::string_view("startup_share"), &Kind::share);
}

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind* kind_of(std::string_view phase) {
  const auto words = words_of(phase);
  // Each of the two words alone would say something else.
  constexpr auto kLoads = std::to_array({"load"sv, "loading"sv, "read"sv});
  constexpr auto kWeights = std::to_array({"model"sv, "weights"sv, "checkpoint"sv, "ckpt"sv});
  if (any_of(words, kLoads) && any_of(words, kWeights)) return &startup();
  for (const Kind& kind : kKinds) {
    if (any_of(words, kind.words)) return &kind;
  }
  return nullptr;
}

}  // namespace amdahl::profile
