// policy.h: replays a policy on past jobs: what it would free, and which jobs it would hit
// wrongly.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/stop.h"

namespace amdahl::scan {

// One job that the policy would have acted on.
struct Hit {
  std::uint32_t job = 0;    // Index into FleetUsage::jobs.
  Nanos at{};               // Unix time.
  double recovered = 0;     // Accelerator-seconds freed. 0 for wrong hits.
  double at_risk = 0;       // Productive accelerator-seconds that a wrong hit would have ended.
  double accelerators = 0;  // Right-sizing: accelerators that the job would have got.
  bool is_wrong = false;
};

// A policy replayed on all jobs with enough data.
struct Replay {
  std::string_view policy = "";  // "idle-timeout", "right-size", "hold-failing".
  Nanos limit{};                 // For an idle timeout.
  std::uint64_t judged = 0;      // Jobs it was replayed on.
  std::vector<Hit> hits{};

  std::uint64_t wrong() const;
  double recovered() const;
  double at_risk() const;
  std::uint64_t users(const FleetUsage& usage) const;
};

// Ends a job when all its accelerators were idle for `limit`: at the start of the latest of their
// idle spells plus the limit. Wrong if any accelerator was used again later. Frees the rest of the
// job's time. Only for jobs with samples of every accelerator. `limits` must ascend, none below
// kLeastSpell; one replay each.
std::vector<Replay> replay_idle_timeouts(const FleetUsage& usage, const std::vector<Nanos>& limits,
                                         const Stop& stop);

// Gives a job as many accelerators as any earlier finished job of its family used, from the fourth
// observed job on. Wrong if it used more.
Replay replay_right_size(const FleetUsage& usage, const Families& families, const Stop& stop);

// Holds a job for its owner if the last three jobs of its family that ended before it started all
// failed (FAILED, OUT_OF_MEMORY). Frees the job's time if it failed too; wrong if it did not.
Replay replay_hold_failing(const FleetUsage& usage, const Families& families, const Stop& stop);

struct Policies {
  std::vector<Replay> idle_timeouts;  // Ascending limits.
  std::size_t chosen = 0;             // Index; see choose_timeout().
  Replay right_size;
  Replay hold_failing;

  const Replay* idle_timeout() const {
    return chosen < idle_timeouts.size() ? &idle_timeouts[chosen] : nullptr;
  }
};
inline constexpr auto kTimeouts = std::to_array<std::chrono::minutes>(
    {std::chrono::minutes{30}, std::chrono::minutes{60}, std::chrono::minutes{120},
     std::chrono::minutes{240}, std::chrono::minutes{480}, std::chrono::minutes{1440}});

// The replay that frees most among those with at most 10 % wrong hits and at most 1 % of the freed
// time at risk; if there is none, the one with the smallest share of wrong hits.
std::size_t choose_timeout(const std::vector<Replay>& replays);

// All policies. `asked`: an additional idle timeout, which is then chosen; 0: none.
Policies replay_policies(const FleetUsage& usage, const Families& families, Nanos asked,
                         const Stop& stop);

std::string timeout_text(Nanos limit);  // "90m", "2h", "1d": as accepted by parse_policy().
// Parses the limit of "idle-timeout=60m".
Result<Nanos> parse_policy(std::string_view text);

}  // namespace amdahl::scan
