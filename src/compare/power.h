// power.h: pairs needed for an effect, and the smallest effect that a number of pairs can show.
#pragma once

#include <optional>

#include "compare/compare.h"
#include "compare/judge.h"

namespace amdahl::compare {

// Median figures for pairs with this noise (standard deviation of one log-ratio, tails slightly
// heavier than Gaussian), from the mean growth of the e-process: half of all comparisons need fewer
// pairs, half need more. For planning only; no verdict depends on them.
struct Outlook {
  double noise = 0.05;
  Design design;
};

// The number of pairs that typically show an effect of this size (ln, above 0); nothing if it is
// more than 100,000.
std::optional<int> pairs_to_show(double effect, const Outlook& outlook);

// The smallest effect that so many pairs typically show; nothing if they are too few for any.
std::optional<double> smallest_shown(int pairs, const Outlook& outlook);

// The largest noise at which so many pairs typically show the effect; nothing if they are too few.
std::optional<double> noise_to_show(double effect, int pairs, const Outlook& outlook);

// How many more pairs a verdict typically takes if the estimate is right; nothing if the estimate
// is too close to the border between two answers; 0 if there is a verdict.
std::optional<int> pairs_to_settle(const Judge& judge, const Outlook& outlook);

}  // namespace amdahl::compare
