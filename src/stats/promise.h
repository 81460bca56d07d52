// promise.h: expected wins per further pair of a hypothesis. Guides scheduling; proves nothing.
#pragma once

#include <span>

namespace amdahl::stats {

// The smallest gain that matters, in ln. A hypothesis is closed for good only on evidence that it
// saves less.
inline constexpr double kSmallestGain = 0.02;

// State of a live hypothesis besides its pairs.
struct Outlook {
  double sigma = 0.05;     // Noise of the existing pairs.
  double sigma_ahead = 0;  // Noise of future pairs, if lower by now; 0: the same.
  double claim = 0;        // In ln.
  double prior = 0.15;
  double log_e = 0;      // ln E for "better".
  double log_level = 3;  // ln E needed.
};

// Expected wins per further pair: the posterior probability that it saves at least kSmallestGain,
// divided by the pairs needed to prove it. The posterior is over effects around the claim. Using
// it to choose and to stop is safe: E stays valid under any such rule.
double promise(std::span<const double> d, const Outlook& outlook);

}  // namespace amdahl::stats
