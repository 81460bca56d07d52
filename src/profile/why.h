// why.h: what a stretch of a job's time went to, one list for gaps, paths and what-ifs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/profile.h"
#include "profile/cause_kinds.h"

namespace amdahl::profile {

// Names are typed after --what-if and written to JSON: never renamed, never reused.
enum class Why : std::uint8_t {
  kKernel,      // A device computes.
  kCopy,        // A device copies or sets memory.
  kComm,        // Ranks exchange: collectives on a device, or on the host.
  kInput,       // The next batch: loading, decoding, copies to the device.
  kHost,        // Other CPU work between launches.
  kSync,        // The host waits for a device, and what the waiting costs.
  kLaunch,      // Calls that launch, and the way from them to the device.
  kQueue,       // Work was queued and did not start yet.
  kLogging,     // Logs and metrics.
  kCheckpoint,  // Saving the state.
  kGc,          // Python's garbage collector.
  kProfiler,    // The profiler's own work.
  kStraggler,   // A rank waits inside a collective for ranks that come later.
  kWarmup,      // Loading and compiling what is used for the first time.
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
// A cause that no ceiling is known of.
bool is_unexplained(const model::Cause& cause);
std::optional<Why> why_named(std::string_view name);
std::optional<Why> why_of(const model::Cause& cause);

constexpr std::size_t at(Why why) { return static_cast<std::size_t>(why); }

}  // namespace amdahl::profile
