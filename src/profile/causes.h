// causes.h: evidence into causes: how much accelerator time each kind of waiting took.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/profile.h"

namespace amdahl::profile {

// Below this share of the allocated time a cause is not worth a line, and below the second it
// does not make the class of a job.
inline constexpr double kSmallestCause = 0.01;
inline constexpr double kCauseThatCounts = 0.05;
inline constexpr double kComputeAtLeast = 0.85;  // Productive share of a job that only computes.

struct CauseInputs {
  std::map<std::string, double> reported;  // facts_of() the receipt alone.
  std::map<std::string, double> all;       // With what the collectors saw.
  std::vector<model::Cause> seen;          // By a collector: id, name, class, share and because.
  std::string accelerator_kind;
  double allocated = 0;  // Accelerator-seconds.
  bool asked = true;     // For this number of accelerators; else it got what there is.
};

// The shares that the hook gives under the plain names, of the receipt's wall time.
std::map<std::string, double> plain_shares(const std::map<std::string, double>& hook,
                                           double wall_s);

// One for each class found, largest first. They may overlap (a cause can hide behind another), so
// their shares do not add up. Each is the most that could go: its ceiling, not its promise.
std::vector<model::Cause> causes_of(const CauseInputs& inputs);

// The part of the accelerators that a job which asked for none left alone; 0 of one that asked.
double left_alone(const CauseInputs& inputs);

// Whether CPUs are short by the job's own doing: its threads or its quota, not its neighbours.
bool is_own_contention(const model::Cause& cause);

}  // namespace amdahl::profile
