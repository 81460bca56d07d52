// ranks.h: ranks of values among which some are the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace amdahl::stats {

// Ranks from 1 of values in rising order, doubled, so that those that equal values (==) share are
// whole.
std::vector<std::size_t> doubled_ranks(std::span<const double> rising);

}  // namespace amdahl::stats
