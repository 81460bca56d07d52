// rank.h: which families waste most accelerator time.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/usage.h"
#include "scan/anatomy.h"

namespace amdahl::scan {

// How often the levers of a family have worked so far, from the ledger.
struct Memory {
  int tried = 0;
  int won = 0;
  double best_ceiling_share = 0;  // Of the latest profile's largest cause; 0 if none.
};

struct FamilyWaste {
  std::string family;
  int jobs = 0;
  int failed = 0;
  Split split;
  double lost_in_failed = 0;  // Accelerator-seconds of jobs that failed.
  // Waste × share of the best lever × chance that it works, in accelerator-seconds. The share is
  // the latest profile's largest cause, or the family's own waste share before it is profiled.
  // The chance is (won + 0.6) / (tried + 4): a Beta prior worth four trials at 15 %.
  double recoverable = 0;
  // Accelerator-hours a day at the observed rate: over the time from the first start to the last
  // end of all the jobs given, at least one hour, so that a few short jobs promise little.
  double volume_per_day = 0;
  std::string latest_job;
  std::string why;  // One sentence for the ledger: why it ranks here.
};

// Largest recoverable first, raw waste breaks ties, then the name. Same input, same order.
// A record that is given twice (same job, host and start) counts once.
std::vector<FamilyWaste> rank(std::span<const model::Usage> jobs,
                              const std::map<std::string, Memory>& memory,
                              const Thresholds& thresholds = {});

}  // namespace amdahl::scan
