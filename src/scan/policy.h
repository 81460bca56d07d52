// policy.h: what a rule would have done to the jobs that ran: what it frees, and whom it hits
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

// One job that the rule would have acted on.
struct Hit {
  std::uint32_t job = 0;    // Index into FleetUsage::jobs.
  Nanos at{};               // When; Unix time.
  double recovered = 0;     // Accelerator-seconds that it frees. 0 for wrong hits.
  double at_risk = 0;       // Productive accelerator-seconds that a wrong hit would have ended.
  double accelerators = 0;  // Right-sizing: how many the job would have got.
  bool is_wrong = false;
};

// A rule replayed on all jobs of which it can be told what it would have done.
struct Replay {
  std::string_view policy = "";  // "idle-timeout", "right-size", "hold-failing".
  Nanos limit{};                 // Of an idle timeout.
  std::uint64_t judged = 0;      // Jobs that it was replayed on.
  std::vector<Hit> hits{};

  std::uint64_t wrong() const;
  double recovered() const;
  double at_risk() const;
  std::uint64_t users(const FleetUsage& usage) const;
};

// A job is ended when all its accelerators were idle for `limit`: at the time of the sample that
// began the latest of their spells, plus the limit. The hit is wrong if any accelerator was used
// again later. It frees the rest of the job's time. Only jobs whose every accelerator has samples.
// `limits` ascend, none below kLeastSpell; a replay each.
std::vector<Replay> replay_idle_timeouts(const FleetUsage& usage, const std::vector<Nanos>& limits,
                                         const Stop& stop);

// A job gets as many accelerators as any job of its family used that ended before this one began,
// from the fourth observed job of the family on. The hit is wrong if it used more.
Replay replay_right_size(const FleetUsage& usage, const Families& families, const Stop& stop);

// A job is held for its owner to look at if the last three jobs of its family that ended before it
// began all failed (FAILED, OUT_OF_MEMORY). It frees the job's time if that failed, too; it is
// wrong if the job did not.
Replay replay_hold_failing(const FleetUsage& usage, const Families& families, const Stop& stop);

struct Policies {
  std::vector<Replay> idle_timeouts;  // Ascending limits.
  std::size_t chosen = 0;             // Of those: see choose_timeout().
  Replay right_size;
  Replay hold_failing;

  const Replay* idle_timeout() const {
    return chosen < idle_timeouts.size() ? &idle_timeouts[chosen] : nullptr;
  }
};
inline constexpr auto kTimeouts = std::to_array<std::chrono::minutes>(
    {std::chrono::minutes{30}, std::chrono::minutes{60}, std::chrono::minutes{120},
     std::chrono::minutes{240}, std::chrono::minutes{480}, std::chrono::minutes{1440}});

// The one that frees most of those that hit wrongly in at most a tenth of their hits and put at
// risk at most a hundredth of what they free; none such: the one with the smallest share of wrong
// hits.
std::size_t choose_timeout(const std::vector<Replay>& replays);

// All of them. `asked`: an idle timeout that is replayed besides, and chosen; 0: none.
Policies replay_policies(const FleetUsage& usage, const Families& families, Nanos asked,
                         const Stop& stop);

std::string timeout_text(Nanos limit);  // "90m", "2h", "1d": as parse_policy() reads it.
// "idle-timeout=60m" into its limit.
Result<Nanos> parse_policy(std::string_view text);

}  // namespace amdahl::scan
