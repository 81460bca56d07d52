// part.h: the kinds of waste that a job's telemetry shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace amdahl::scan {

// A job's level is the mean utilisation of its working accelerators at a time; its steady level is
// the median over all bins in which any works. docs/guide/read-a-scan.md explains this for users.
enum class PartKind : std::uint8_t {
  kUnused,  // Every accelerator idle in at least 98 % of its samples: a forgotten session.
  // Some accelerators idle, throughout or for 3 consecutive samples, while others worked.
  kPartial,
  kStartUp,      // Before the level first reaches half of the steady level.
  kRamp,         // From there until it nears the steady level: the shortfall.
  kCheckpoints,  // Short periodic dips: 5 or more, up to 15 % of the time.
  kStalls,       // Periodic dips, or idle samples all over the run, that take more.
  kPauses,       // Other times in which the whole job was idle or below half its level.
  kImbalance,    // Accelerators used at least 10 points less than the busiest one.
  kTail,         // After the level was last at half of the steady level.
  kSteady,       // Not fully used in steady state.
  kUnplaced,     // Only totals are known, or fewer than 4 bins.
};
inline constexpr std::size_t kPartKinds = 11;
std::string_view name(PartKind kind);    // "start-up", "partial use", ...
std::string_view action(PartKind kind);  // "shorten the start-up", ...
// The bottleneck that a lever against it addresses.
model::Bottleneck bottleneck_of(PartKind kind);
constexpr std::size_t index(PartKind kind) { return static_cast<std::size_t>(kind); }

struct Part {
  PartKind kind = PartKind::kUnplaced;
  double accelerator_seconds = 0;
  double share = 0;        // Of the allocation.
  double if_vanished = 1;  // Amdahl: 1/(1-share).
  std::string evidence;    // "32 dips of about 40 s, one every 30 min".
};

}  // namespace amdahl::scan
