// host_ranks.h: finds the rank that the others wait for in collectives of the host (Gloo, MPI).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/trace.h"
#include "profile/classify.h"

namespace amdahl::profile {

// A rank's part in the collectives of one name.
struct HostRank {
  std::int32_t rank = -1;
  std::string host;
  std::uint64_t times = 0;
  Nanos median{};  // Time inside one of them.
  Nanos inside{};  // Inside all of them.
};

struct HostRanks {
  std::string collective;                  // The one that the ranks spend most time in.
  std::vector<HostRank> ranks;             // By number.
  std::uint32_t straggler = model::kNone;  // Index into `ranks`.
  Nanos made_wait{};  // In one collective: until it came after the second last.
  double share = 0;   // Of the ranks' recorded time: waiting for the last one to come.
};

// Ranks leave a collective together, so that who is inside for the shortest time came last. Times
// are compared within a rank only: clocks of hosts need not agree, and windows of ranks need not
// cover the same steps.
HostRanks host_ranks(const model::Trace& trace);

// Evidence (docs/format/evidence.md) and the cause, if a rank is late. `in_steps`: the share of the
// job's time that steps like the recorded ones take.
inline constexpr const char* kStragglerRank = "ranks.straggler";
Facts facts_of(const HostRanks& ranks, double in_steps);

}  // namespace amdahl::profile
