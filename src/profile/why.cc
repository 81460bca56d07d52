#include "profile/why.h"

#include <algorithm>

namespace amdahl::profile {
namespace {

using model::Bottleneck;

constexpr std::array<WhyRow, kWhys> kRows = {{
    {Why::kKernel, "kernel", "kernels", Bottleneck::kCompute},
    {Why::kCopy, "copy", "copies that nothing hides", Bottleneck::kInput},
    {Why::kComm, "comm", "communication that nothing hides", Bottleneck::kCommunication},
    {Why::kInput, "input", "waiting for input", Bottleneck::kInput},
    {Why::kHost, "host", "CPU work between launches", Bottleneck::kSerial},
    {Why::kSync, "sync", "the host waits for the device", Bottleneck::kSync},
    {Why::kLaunch, "launch", "launching", Bottleneck::kSerial},
    {Why::kQueue, "queue", "queued work that has not started", Bottleneck::kUnknown},
    {Why::kLogging, "logging", "logging", Bottleneck::kSync},
    {Why::kCheckpoint, "checkpoint", "checkpoints", Bottleneck::kLifecycle},
    {Why::kGc, "gc", "garbage collection", Bottleneck::kSerial},
    {Why::kProfiler, "profiler", "the profiler itself", Bottleneck::kUnknown},
    {Why::kStraggler, "straggler", "waiting for slower ranks", Bottleneck::kCommunication},
    {Why::kWarmup, "warmup", "warm-up", Bottleneck::kLifecycle},
    {Why::kUnknown, "unknown", "waiting that nothing explains", Bottleneck::kUnknown},
}};

}  // namespace

const std::array<WhyRow, kWhys>& whys() { return kRows; }

std::string_view name(Why why) { return kRows[at(why)].name; }

std::string_view describe(Why why) { return kRows[at(why)].describe; }

bool is_unexplained(const model::Cause& cause) { return cause.name == describe(Why::kUnknown); }

std::optional<Why> why_named(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &WhyRow::name);
  if (row == kRows.end()) return std::nullopt;
  return row->why;
}

}  // namespace amdahl::profile
