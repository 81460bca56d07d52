// peers.h: how much less a kind of waste could be if jobs did as well as others of their family.
#pragma once

#include <cstdint>
#include <vector>

#include "scan/base_rate.h"

namespace amdahl::scan {

// A job's waste of one kind, in accelerator-seconds.
struct PeerWaste {
  std::uint32_t family = 0;
  float share = 0;  // Of its observed time.
  double wasted = 0;
};

// What comes back if no job wasted a larger share than the family's middle job (`lower`) or than
// its better quarter (`upper`), where that can be fixed (fixed_rate()); `mean` is halfway. Families
// of fewer than four observed jobs tell nothing and get the published rate. `jobs` are those with
// waste of this kind; `observed` counts all observed jobs of each family.
BaseRate peer_rate(std::vector<PeerWaste> jobs, const std::vector<std::uint32_t>& observed);

}  // namespace amdahl::scan
