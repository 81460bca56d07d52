// power.h: how many pairs an effect takes, and how small an effect so many pairs can show.
#pragma once

#include <optional>

#include "compare/compare.h"
#include "compare/judge.h"

namespace amdahl::compare {

// Typical figures for pairs with this noise (standard deviation of one log-ratio, tails a little
// heavier than Gaussian), from the mean growth of the bets: about every second comparison needs
// fewer pairs, every second more. They guide a person; no verdict rests on them.
struct Outlook {
  double noise = 0.05;
  Design design;
};

// The least number of pairs with which an effect of this size (ln, above 0) is typically shown to
// be better; nothing if not even 100,000 would do.
std::optional<int> pairs_to_show(double effect, const Outlook& outlook);

// The smallest effect that so many pairs typically show; nothing if they are too few for any.
std::optional<double> smallest_shown(int pairs, const Outlook& outlook);

// The largest noise at which so many pairs typically show the effect; nothing if they are too few.
std::optional<double> noise_to_show(double effect, int pairs, const Outlook& outlook);

// How many more pairs a verdict of any kind typically takes, if the effect is what it looks like;
// nothing if it is too near to what separates two answers. 0 when there is one.
std::optional<int> pairs_to_settle(const Judge& judge, const Outlook& outlook);

}  // namespace amdahl::compare
