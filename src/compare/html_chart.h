// html_chart.h: the two charts of a comparison's page, as inline SVG.
#pragma once

#include <string>

#include "compare/account.h"

namespace amdahl::compare {

// Each pair as a dot, the estimate of all pairs so far with its interval, and the band of
// differences that do not matter. Empty without a valid pair.
std::string effect_chart(const Account& account);

// Measurements of A and B, pair by pair: shows drift, bursts and outliers.
std::string value_chart(const Account& account);

}  // namespace amdahl::compare
