// part.h: the kinds of waste that a job's telemetry shows, and one finding of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace amdahl::scan {

// The level of a job is the mean utilisation of its accelerators that work at that moment; its
// steady level is the median of that over all bins in which any works. docs/guide/read-a-scan.md
// says the same for people.
enum class PartKind : std::uint8_t {
  kUnused,       // Every accelerator idle in 98 % of its samples or more: a forgotten session.
  kPartial,      // Accelerators idle, throughout or for 3 samples on end, while others worked.
  kStartUp,      // Before the level first reaches half of the steady one.
  kRamp,         // From there until it is within reach of the steady one: what it falls short.
  kCheckpoints,  // Short dips at equal distances: 5 or more, up to 15 % of the time.
  kStalls,       // Dips at equal distances, or idle samples all over the run, that take more.
  kPauses,       // Other times in which the whole job stood still or went at less than half.
  kImbalance,    // What accelerators are used less than the busiest one, by 10 points or more.
  kTail,         // After the level was last at half of the steady one.
  kSteady,       // Not full in steady state.
  kUnplaced,     // Only sums are known, or fewer than 4 bins: no saying when.
};
inline constexpr std::size_t kPartKinds = 11;
std::string_view name(PartKind kind);            // "start-up", "partial use", ...
std::string_view action(PartKind kind);          // "shorten the start-up", ...
model::Bottleneck bottleneck_of(PartKind kind);  // What a lever against it is a lever against.
constexpr std::size_t index(PartKind kind) { return static_cast<std::size_t>(kind); }

struct Part {
  PartKind kind = PartKind::kUnplaced;
  double accelerator_seconds = 0;
  double share = 0;        // Of the allocation.
  double if_vanished = 1;  // Amdahl: 1/(1-share).
  std::string evidence;    // "32 dips of about 40 s, one every 30 min".
};

}  // namespace amdahl::scan
