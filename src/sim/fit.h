// fit.h: fits the simulated fleet to the results of past campaigns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/drive.h"

namespace amdahl::sim {

// Past pairs of one job.
struct PastJob {
  // Log-ratios that should be 0: A against A, and those of experiments around their median.
  std::vector<double> still;
  std::vector<double> second;      // ln(time of the second run / of the first), same pairs.
  std::vector<double> pair_hours;  // Accelerator-hours of each.
  int runs = 0;                    // Of the baseline,
  int failed = 0;                  // and how many failed.
};

struct PastResults {
  std::vector<PastJob> jobs;
  std::int64_t tried = 0;  // Hypotheses with a verdict,
  std::int64_t won = 0;    // and those promoted.
};

// Fits each parameter that has enough data. Returns one sentence per parameter: the value with its
// number of pairs, or what is assumed.
std::vector<std::string> fit(const PastResults& seen, Setup& setup);

}  // namespace amdahl::sim
