#include "stats/coin.h"

#include <fmt/core.h>

#include "base/hash.h"

namespace amdahl::stats {

bool coin(std::string_view seed, std::string_view hypothesis, int index) {
  return (sha256(fmt::format("{}|{}|{}", seed, hypothesis, index))[0] & 1U) != 0;
}

}  // namespace amdahl::stats
