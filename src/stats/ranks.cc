#include "stats/ranks.h"

#include "stats/exact.h"

namespace amdahl::stats {

std::vector<std::size_t> doubled_ranks(std::span<const double> rising) {
  std::vector<std::size_t> ranks;
  ranks.reserve(rising.size());
  while (ranks.size() < rising.size()) {
    const std::size_t first = ranks.size();
    std::size_t end = first;
    while (end < rising.size() && rising[end] == rising[first]) ++end;
    ranks.resize(end, first + 1 + end);
  }
  return ranks;
}

}  // namespace amdahl::stats
