// host.h: whether the machine, not the change, made the difference.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::host {

// The win must hold in clean (undisturbed) pairs; `same`: both arms ran on one host.
Ruling rule(std::span<const double> d, const std::vector<bool>& clean,
            const std::vector<bool>& same, double theta);

// How much more CPU other processes used while A ran than while B ran, in cores.
struct Imbalance {
  double cores = 0;
  double p = 1;  // Exact, one-sided.
};
Imbalance imbalance(std::span<const double> cores_a_minus_b);

// The win without one host: the host whose removal weakens it most.
struct OtherHosts {
  std::string without;  // Empty if no host can be left out: at least 5 pairs must remain.
  std::vector<double> d;
  double p = 1;  // For less than half of the claim, corrected for choosing among hosts.
};
OtherHosts elsewhere(std::span<const double> d, std::span<const std::string> hosts, double theta);

// The same by comparing one host with the others, which needs as few as 2 pairs: the others save
// less than half of the claim and less than that host. p: for saving as much. `without` is empty if
// no host stands out at p = 0.10.
OtherHosts weaker_elsewhere(std::span<const double> d, std::span<const std::string> hosts,
                            double theta);

// Clean: both arms on one host, with equal CPU use by other processes (within a quarter of a core,
// a quarter of their use, and the resolution of 10 ms ticks) and equal steal. Beyond the rule it
// refutes a win that a single host carries, and refutes softly if A ran under more load or if the
// other hosts save less.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::host
