// html_chart.h: the two pictures of a comparison's page, as inline SVG.
#pragma once

#include <string>
#include <string_view>

#include "compare/account.h"

namespace amdahl::compare {

// `text` as it stands between tags and in attributes; control characters become "?".
std::string escape_html(std::string_view text);

// Each pair as a dot, over them the estimate of all pairs so far with its interval, and the band
// within which a difference does not matter. Empty without a pair that counts.
std::string effect_chart(const Account& account);

// What A and B measured, pair by pair: shows drift, bursts and outliers.
std::string value_chart(const Account& account);

}  // namespace amdahl::compare
