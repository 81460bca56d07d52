#include "compare/power.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stats/eprocess.h"

namespace amdahl::compare {
namespace {

using Growth = std::array<double, stats::kCells>;

constexpr int kMostPairs = 100'000;
constexpr int kPoints = 48;          // Of the noise's distribution.
constexpr double kLogistic = 0.614;  // Scale of a logistic with the median distance of a Gaussian.

// What each bettor's log-wealth grows by in a pair, on average.
Growth growth_of(double effect, double noise, const stats::Wager& wager) {
  const auto cells = stats::cells(wager.sigma);
  Growth growth{};
  for (int i = 0; i < kPoints; ++i) {
    const double rank = (i + 0.5) / kPoints;
    const double d = effect + noise * kLogistic * std::log(rank / (1 - rank));
    const double x = wager.side == stats::Side::kAbove ? d - wager.margin : wager.margin - d;
    for (std::size_t k = 0; k < stats::kCells; ++k) {
      growth[k] += std::log1p(stats::bet(x, cells[k])) / kPoints;
    }
  }
  return growth;
}

double log_e_after(double pairs, const Growth& growth) {
  const double most = *std::ranges::max_element(growth) * pairs;
  double sum = 0;
  for (const double rate : growth) sum += std::exp(rate * pairs - most);
  return most + std::log(sum / stats::kCells);
}

// From nothing to the level. log E is convex in the pairs and starts at 0: once above, it stays.
std::optional<int> pairs_to_reach(double level, const Growth& growth) {
  if (log_e_after(kMostPairs, growth) < level) return std::nullopt;
  int low = 0;
  int high = kMostPairs;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (log_e_after(middle, growth) >= level ? high : low) = middle;
  }
  return high;
}

// From what there is: by now the wealth is with the bettor that does best.
double pairs_left(double log_e, double level, const Growth& growth) {
  if (log_e >= level) return 0;
  const double rate = *std::ranges::max_element(growth);
  return rate * kMostPairs < level - log_e ? kMostPairs + 1 : std::ceil((level - log_e) / rate);
}

// The first value, in steps of this factor, that needs at most this many pairs.
template <class Within, class Needed>
std::optional<double> first_shown(double from, const Within& within, double factor,
                                  const Needed& needed, int pairs) {
  for (double value = from; within(value); value *= factor) {
    const std::optional<int> takes = needed(value);
    if (takes && *takes <= pairs) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> pairs_to_show(double effect, const Outlook& outlook) {
  const Growth growth = growth_of(effect, outlook.noise, {.sigma = outlook.design.sigma});
  return pairs_to_reach(std::log(outlook.design.win_threshold), growth);
}

std::optional<double> smallest_shown(int pairs, const Outlook& outlook) {
  constexpr double kLargest = 0.7;  // Half the cost.
  // Upwards, for larger is not always easier: no bettor expects everything.
  return first_shown(
      1e-4, [](double effect) { return effect <= kLargest; }, 1.02,
      [&](double effect) { return pairs_to_show(effect, outlook); }, pairs);
}

std::optional<double> noise_to_show(double effect, int pairs, const Outlook& outlook) {
  const auto needed = [&](double noise) {
    // A new measurement would use the new noise.
    Outlook quieter{noise, outlook.design};
    quieter.design.sigma = std::clamp(noise, 0.003, 0.30);
    return pairs_to_show(effect, quieter);
  };
  return first_shown(
      1, [](double noise) { return noise >= 1e-4; }, 1 / 1.02, needed, pairs);
}

std::optional<int> pairs_to_settle(const Judge& judge, const Outlook& outlook) {
  if (judge.answer() != model::Answer::kCannotTell) return 0;
  const Design& design = outlook.design;
  const double effect = judge.effect();
  const auto left = [&](double log_e, double level, double margin, stats::Side side) {
    const stats::Wager wager{.sigma = design.sigma, .margin = margin, .side = side};
    return pairs_left(log_e, std::log(level), growth_of(effect, outlook.noise, wager));
  };
  const double none = 1 / design.beta;
  double same = left(judge.log_e_futile(), none, design.delta, stats::Side::kBelow);
  if (design.two_sided) {
    same = std::max(same, left(judge.log_e_not_worse(), none, -design.delta, stats::Side::kAbove));
  }
  const double better = left(judge.log_e_win(), design.win_threshold, 0, stats::Side::kAbove);
  const double worse = left(judge.log_e_worse(), design.win_threshold, 0, stats::Side::kBelow);
  const double least = std::min({same, better, worse});
  if (least > kMostPairs) return std::nullopt;
  return std::max(1, static_cast<int>(least));
}

}  // namespace amdahl::compare
