// causes.h: turns evidence into causes: how much accelerator time each kind of waiting took.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/profile.h"

namespace amdahl::profile {

// Smaller causes are not listed. Below the second share, a cause does not determine the job's
// class.
inline constexpr double kSmallestCause = 0.01;
inline constexpr double kCauseThatCounts = 0.05;
// Productive share above which a job only computes.
inline constexpr double kComputeAtLeast = 0.85;

struct CauseInputs {
  std::map<std::string, double> reported;  // facts_of() the receipt alone.
  std::map<std::string, double> all;       // Including the collectors' evidence.
  std::vector<model::Cause> seen;  // Causes from a collector: id, name, class, share and because.
  std::string accelerator_kind;
  double allocated = 0;  // Accelerator-seconds.
  bool asked = true;  // The job asked for this number of accelerators; false: it got what is there.
};

// The hook's shares under their plain names, relative to the receipt's wall time.
std::map<std::string, double> plain_shares(const std::map<std::string, double>& hook,
                                           double wall_s);

// One per class found, largest first. Causes may overlap (one can hide another), so their shares
// do not add up. Each is an upper bound.
std::vector<model::Cause> causes_of(const CauseInputs& inputs);

// Share of the accelerators that a job which asked for none did not use; 0 if it asked.
double left_alone(const CauseInputs& inputs);

// Whether CPUs are short because of the job's own threads or quota, not its neighbours.
bool is_own_contention(const model::Cause& cause);

}  // namespace amdahl::profile
