// promise.h: what going on with a hypothesis promises, for who has to choose. Proves nothing.
#pragma once

#include <span>

namespace amdahl::stats {

// The smallest gain that matters, in ln: a hypothesis is given up for good only on evidence that it
// saves less.
inline constexpr double kSmallestGain = 0.02;

// What is known of a live hypothesis besides its pairs.
struct Outlook {
  double sigma = 0.05;     // Noise of the pairs there are.
  double sigma_ahead = 0;  // Of those to come, where it has fallen since; 0: the same.
  double claim = 0;        // In ln.
  double prior = 0.15;
  double log_e = 0;      // For better.
  double log_level = 3;  // ln E that it needs.
};

// Wins to be expected of each pair that is still spent on it: the chance that it saves what
// matters, over the pairs that proving so would take. The chance is a posterior over effects around
// the claim. It guides where pairs go and when to stop, which harms no evidence: E stays valid
// under any such choice.
double promise(std::span<const double> d, const Outlook& outlook);

}  // namespace amdahl::stats
