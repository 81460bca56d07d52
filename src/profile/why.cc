#include "profile/why.h"

#include <algorithm>

namespace amdahl::profile {
namespace {

using model::Bottleneck;

constexpr std::array<WhyRow, kWhys> kRows = {{
    {Why::kKernel, "kernel", causes::kKernel, Bottleneck::kCompute},
    {Why::kCopy, "copy", causes::kExposedCopies, Bottleneck::kInput},
    {Why::kComm, "comm", causes::kExposedCollectives, Bottleneck::kCommunication},
    {Why::kInput, "input", causes::kInputWait, Bottleneck::kInput},
    {Why::kHost, "host", causes::kHostWork, Bottleneck::kSerial},
    {Why::kSync, "sync", causes::kDeviceWait, Bottleneck::kSync},
    {Why::kLaunch, "launch", causes::kLaunching, Bottleneck::kSerial},
    {Why::kQueue, "queue", causes::kQueued, Bottleneck::kUnknown},
    {Why::kLogging, "logging", causes::kLogging, Bottleneck::kSync},
    {Why::kCheckpoint, "checkpoint", causes::kCheckpoint, Bottleneck::kLifecycle},
    {Why::kGc, "gc", causes::kGc, Bottleneck::kSerial},
    {Why::kProfiler, "profiler", causes::kProfiler, Bottleneck::kUnknown},
    {Why::kStraggler, "straggler", causes::kStragglers, Bottleneck::kCommunication},
    {Why::kWarmup, "warmup", causes::kWarmup, Bottleneck::kLifecycle},
    {Why::kUnknown, "unknown", causes::kUnexplained, Bottleneck::kUnknown},
}};

}  // namespace

const std::array<WhyRow, kWhys>& whys() { return kRows; }

std::string_view name(Why why) { return kRows[at(why)].name; }

std::string_view describe(Why why) { return kRows[at(why)].cause.name; }

bool is_unexplained(const model::Cause& cause) { return cause.id == causes::kUnexplained.id; }

std::optional<Why> why_named(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &WhyRow::name);
  if (row == kRows.end()) return std::nullopt;
  return row->why;
}

std::optional<Why> why_of(const model::Cause& cause) {
  const auto row =
      std::ranges::find(kRows, cause.id, [](const WhyRow& one) { return one.cause.id; });
  if (row == kRows.end()) return std::nullopt;
  return row->why;
}

}  // namespace amdahl::profile
