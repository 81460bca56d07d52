#include "stats/promise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace amdahl::stats {
namespace {

// People's claims are right to a factor of about 1.6 either way.
struct Guess {
  double ratio;  // Of the effect to the claim,
  double share;  // and how often.
};
constexpr auto kGuesses = std::to_array<Guess>({{0.25, 0.03},
                                                {0.4, 0.07},
                                                {0.6, 0.15},
                                                {0.8, 0.19},
                                                {1.0, 0.20},
                                                {1.3, 0.17},
                                                {1.7, 0.11},
                                                {2.5, 0.06},
                                                {4.0, 0.02}});

// A dozen A/A pairs tell the noise roughly; they read one input on one host, and pairs of a variant
// may vary more than those.
struct Wider {
  double by;
  double share;
};
constexpr auto kWider = std::to_array<Wider>({{0.8, 0.25}, {1.2, 0.5}, {2, 0.25}});

// Bursts of a neighbour and stragglers disturb a pair far beyond the usual noise. Without them in
// the model, two disturbed pairs would end a win of ten deviations.
constexpr double kDisturbed = 0.1;  // Share of pairs,
constexpr double kBurst = 0.3;      // and how far they scatter, in ln.

constexpr double kTails = 3;            // Degrees of freedom: an outlier says little.
constexpr double kNarrower = 0.9;       // The middle of such noise, in deviations.
constexpr double kMostPerPair = 0.678;  // ln 1.97, by which a pair raises ln E at most.
constexpr double kHalfway = 1.5;        // The squared effect in deviations that gives half of it,
constexpr double kLost = 0.035;         // less what the bets lose to pairs that are far off.
constexpr double kHardly = 0.005;       // Below 0.3 deviations: no number of pairs proves it.
constexpr double kPanel = 8;            // Additional pairs for the panel.

// Student's t up to a factor that is the same for all scales.
double density(double x, double scale) {
  const double z = x / scale;
  const double root = 1 + z * z / kTails;
  static_assert(kTails == 3);
  return 1 / (scale * root * root);
}

double log_likelihood(std::span<const double> d, double effect, double scale) {
  const double far = std::max(kBurst, 3 * scale);
  double sum = 0;
  for (const double x : d) {
    sum += std::log((1 - kDisturbed) * density(x - effect, scale) +
                    kDisturbed * density(x - effect, far));
  }
  return sum;
}

double pairs_to_level(double effect, double wider, const Outlook& o) {
  const double sigma = wider * (o.sigma_ahead > 0 ? o.sigma_ahead : o.sigma);
  const double squared = (effect / sigma) * (effect / sigma);
  const double per_pair = kMostPerPair * squared / (squared + kHalfway) - kLost;
  return std::max(0.0, o.log_level - o.log_e) / std::max(kHardly, per_pair) + kPanel;
}

}  // namespace

double promise(std::span<const double> d, const Outlook& o) {
  if (!(o.claim > 0)) return 0;
  double all = 0;
  double wins = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (const Wider& wider : kWider) {
    most = std::max(most, log_likelihood(d, 0, wider.by * kNarrower * o.sigma));
  }
  for (const Wider& wider : kWider) {
    const double scale = wider.by * kNarrower * o.sigma;
    const auto weight_of = [&](double effect) {
      return wider.share * std::exp(std::min(log_likelihood(d, effect, scale) - most, 600.0));
    };
    all += (1 - o.prior) * weight_of(0);
    for (const Guess& guess : kGuesses) {
      const double effect = guess.ratio * o.claim;
      const double weight = o.prior * guess.share * weight_of(effect);
      const double matters = std::min(1.0, effect / kSmallestGain);
      all += weight;
      wins += weight * matters * matters / pairs_to_level(effect, wider.by, o);
    }
  }
  return wins / all;
}

}  // namespace amdahl::stats
