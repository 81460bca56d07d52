// fit.h: the simulated fleet made like one that was observed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/drive.h"

namespace amdahl::sim {

// What the pairs of one job say.
struct SeenJob {
  // Log-ratios that should be 0: of A against A, and those of experiments around their own median.
  std::vector<double> still;
  std::vector<double> second;      // ln(time of the second run / of the first), the same pairs.
  std::vector<double> pair_hours;  // Accelerator-hours of each.
  int runs = 0;                    // Of the baseline,
  int failed = 0;                  // and how many of them failed.
};

struct Seen {
  std::vector<SeenJob> jobs;
  std::int64_t tried = 0;  // Hypotheses with a verdict,
  std::int64_t won = 0;    // and those promoted.
};

// Takes over what there is enough of and says so, a sentence each, with how many pairs it rests
// on; where there is too little it says what is assumed.
std::vector<std::string> fit(const Seen& seen, Setup& setup);

}  // namespace amdahl::sim
