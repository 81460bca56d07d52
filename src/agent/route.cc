#include "agent/route.h"

#include <algorithm>

namespace amdahl::agent {

std::optional<int> next_tier(const Standing& standing) {
  if (standing.has_ideas) return std::nullopt;
  for (int tier = 0; tier < static_cast<int>(standing.prices.size()); ++tier) {
    const auto asked = std::ranges::find(standing.past, tier, &PastQuestion::tier);
    if (asked == standing.past.end()) {
      const double price = standing.prices[static_cast<std::size_t>(tier)];
      const bool worth = price <= 0 || !standing.worth_usd || *standing.worth_usd >= price;
      return worth ? std::optional(tier) : std::nullopt;
    }
    if (!asked->settled || asked->won) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace amdahl::agent
