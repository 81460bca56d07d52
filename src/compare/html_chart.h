// html_chart.h: the two pictures of a comparison's page, as inline SVG.
#pragma once

#include <string>

#include "compare/account.h"

namespace amdahl::compare {

// Each pair as a dot, over them the estimate of all pairs so far with its interval, and the band
// within which a difference does not matter. Empty without a pair that counts.
std::string effect_chart(const Account& account);

// What A and B measured, pair by pair: shows drift, bursts and outliers.
std::string value_chart(const Account& account);

}  // namespace amdahl::compare
