// host.h: whether the machine, not the change, made the difference.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::host {

// The win must be there in clean pairs; `same` says whether both arms ran on one host.
Ruling rule(std::span<const double> d, const std::vector<bool>& clean,
            const std::vector<bool>& same, double theta);

// How much more CPU others used beside A than beside B, in cores.
struct Imbalance {
  double cores = 0;
  double p = 1;  // Exact, one-sided.
};
Imbalance imbalance(std::span<const double> cores_a_minus_b);

// The win on all hosts but one, for the host that it misses most.
struct Elsewhere {
  std::string without;  // Empty if no host can be left out: at least 5 pairs must remain.
  std::vector<double> d;
  double p = 1;  // That it is less than half of the claim, allowing for the choice among hosts.
};
Elsewhere elsewhere(std::span<const double> d, std::span<const std::string> hosts, double theta);

// The same by setting the host against the others, which as few as 2 pairs can tell: the rest of
// which half falls short of half the claim, and which saves less than the host left out. p: that it
// saves as much. `without` is empty where no rest does so at p 0.10.
Elsewhere weaker_elsewhere(std::span<const double> d, std::span<const std::string> hosts,
                           double theta);

// Clean: one host, and neighbours that used as much CPU beside A as beside B (within a quarter of
// a core, a quarter of what they used, and what ticks of 10 ms can tell), as much stolen. Besides
// the rule it doubts a win where A had the noisier neighbours, refutes one that a single host
// carries, and doubts one that is weaker on the other hosts.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::host
