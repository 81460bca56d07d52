// host.h: whether the machine, not the change, made the difference.
#pragma once

#include <span>
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

// Clean: one host, and neighbours that used as much CPU beside A as beside B (within a quarter of
// a core, a quarter of what they used, and what ticks of 10 ms can tell), as much stolen. Besides
// the rule it doubts a win where A had the noisier neighbours.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::host
