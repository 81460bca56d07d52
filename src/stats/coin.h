// coin.h: the committed coin that randomises the order of a pair's arms.
#pragma once

#include <string_view>

namespace amdahl::stats {

// Whether the variant runs second in pair `index`: the lowest bit of the first byte of
// SHA-256("seed|hypothesis|index"). Anyone who knows the campaign's seed can verify every order.
bool coin(std::string_view seed, std::string_view hypothesis, int index);

}  // namespace amdahl::stats
