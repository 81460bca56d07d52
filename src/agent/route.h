// route.h: which model to ask next about a family, if any. Decides; asks nobody.
#pragma once

#include <optional>
#include <vector>

namespace amdahl::agent {

// A question that was asked about the same evidence.
struct PastQuestion {
  int tier = 0;
  bool settled = false;
  bool won = false;  // An idea of its answer was promoted.
};

struct Standing {
  std::vector<double> prices;  // What a question may cost of each tier, in USD; cheapest first.
  bool has_ideas = false;      // Something of the family is queued, under test or parked.
  std::vector<PastQuestion> past{};
  std::optional<double> worth_usd{};  // What an answer may bring back; nothing: not known.
};

// The cheapest tier that was not asked yet, once all that cheaper ones and the rules brought has
// come to an end without a win, and if the answer may bring more than it costs.
std::optional<int> next_tier(const Standing& standing);

}  // namespace amdahl::agent
