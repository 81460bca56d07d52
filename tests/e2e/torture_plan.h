// torture_plan.h: which faults a run of the torture test has, all drawn from one seed beforehand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace amdahl::e2e {

// What fails, and where the cycles that start meanwhile die.
struct Fault {
  std::string name;    // One of kFaults.
  std::string point;   // One of kPoints.
  int at = 1;          // Which pass of that point.
  double after_s = 0;  // Since the fault before was mended.
  double lasts_s = 0;
};

// How one cycle of a machine is started.
struct Start {
  bool watch = false;
  int rest_ticks = 0;  // After it, until the next.
};

// Nothing here depends on what a run meets: the same seed gives the same faults in the same order,
// and the n-th cycle of a machine is started in the same way.
class TorturePlan {
 public:
  explicit TorturePlan(std::uint32_t seed) : seed_{seed} {}

  // Each fault with each point, in random order; or each fault and each point at least once.
  std::vector<Fault> faults(bool all) const;
  Start start(int machine, int number) const;

 private:
  std::uint32_t seed_;
};

const std::vector<std::string>& fault_names();
const std::vector<std::string>& fault_points();

}  // namespace amdahl::e2e
