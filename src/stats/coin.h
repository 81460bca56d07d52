// coin.h: the committed fair coin that orders the two arms of a pair.
#pragma once

#include <string_view>

namespace amdahl::stats {

// Whether the variant runs second in pair `index`. The first byte of SHA-256("seed|hypothesis|
// index"), lowest bit: anyone who knows the campaign's seed can check every order afterwards.
bool coin(std::string_view seed, std::string_view hypothesis, int index);

}  // namespace amdahl::stats
