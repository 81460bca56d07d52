// peers.h: how much less a kind of waste could be if jobs did as well as others of their family.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/base_rate.h"

namespace amdahl::scan {

// A job's waste in one part of it, in accelerator-seconds.
struct PeerWaste {
  std::uint32_t family = 0;
  std::uint32_t part = 0;  // Jobs are compared in the same part only.
  // By which jobs of a family compare: the share of their observed time, or, for what each start or
  // end takes once however long the job is, seconds of an accelerator.
  float measure = 0;
  double wasted = 0;
};

// What comes back if no job wasted more by its measure than the family's middle job (`lower`) or
// than its better quarter (`upper`), where that can be fixed (fixed_rate()); `mean` is halfway.
// Families of fewer than four observed jobs tell nothing and get the published rate. `jobs` are
// those with waste of this kind; `observed` counts all observed jobs of each family.
BaseRate peer_rate(std::vector<PeerWaste> jobs, const std::vector<std::uint32_t>& observed);

}  // namespace amdahl::scan
