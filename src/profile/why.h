// why.h: what time was spent on: one list for gaps, paths and what-ifs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/profile.h"
#include "profile/cause_kinds.h"

namespace amdahl::profile {

// Names are typed after --what-if and written to JSON: never rename or reuse one.
enum class Why : std::uint8_t {
  kKernel,      // A device computes.
  kCopy,        // A device copies or sets memory.
  kComm,        // Ranks exchange data: collectives on a device or on the host.
  kInput,       // Next batch: loading, decoding, copying to the device.
  kHost,        // Other CPU work between launches.
  kSync,        // The host waits for a device, including the cost of waiting.
  kLaunch,      // Launch calls, and the latency to the device.
  kQueue,       // Work was queued but not started.
  kLogging,     // Logs and metrics.
  kCheckpoint,  // Saving the state.
  kGc,          // Python's garbage collector.
  kProfiler,    // Work of the profiler itself.
  kStraggler,   // A rank waits inside a collective for later ranks.
  kWarmup,      // First use: loading and compiling.
  kUnknown,
};
inline constexpr std::size_t kWhys = 15;

struct WhyRow {
  Why why;
  std::string_view name;  // "input".
  CauseKind cause;        // "input.wait", "waiting for input".
  model::Bottleneck bottleneck;
};

const std::array<WhyRow, kWhys>& whys();
std::string_view name(Why why);
std::string_view describe(Why why);
// A cause whose ceiling is unknown.
bool is_unexplained(const model::Cause& cause);
std::optional<Why> why_named(std::string_view name);
std::optional<Why> why_of(const model::Cause& cause);

constexpr std::size_t at(Why why) { return static_cast<std::size_t>(why); }

}  // namespace amdahl::profile
