// ranks.h: ranks of values with ties.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace amdahl::stats {

// 1-based ranks of values in ascending order, times two, so that ranks shared by ties (==) are
// integers.
std::vector<std::size_t> doubled_ranks(std::span<const double> rising);

}  // namespace amdahl::stats
