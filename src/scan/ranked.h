// ranked.h: the top rows of many, in a total order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "scan/report.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Sort keys: the requested one first, then the others.
using Key = std::array<double, 6>;

inline Key key_of(Order order, const Split& split, double recoverable, double lost, double queue) {
  const std::array<double, 5> by = {recoverable, wasted(split), split.allocated, lost, queue};
  return {by[static_cast<std::size_t>(order)], by[0], by[1], by[2], by[3], by[4]};
}

struct Ranked {
  Key key{};
  std::uint32_t item = 0;
};

// The larger key first. Ties are broken by the smaller name(i), then the smaller index.
template <class NameOf>
struct RankedBefore {
  bool operator()(const Ranked& a, const Ranked& b) const {
    if (a.key != b.key) return a.key > b.key;
    const auto name_a = name(a.item);
    const auto name_b = name(b.item);
    return std::tie(name_a, a.item) < std::tie(name_b, b.item);
  }
  const NameOf& name;
};

// The first `most` of n items, in order; all if `most` is 0. One pass with a heap.
template <class KeyOf, class NameOf>
std::vector<std::uint32_t> ranked(std::size_t n, std::size_t most, KeyOf key, NameOf name,
                                  const Stop& stop) {
  const RankedBefore<NameOf> before{name};
  if (most == 0) most = n;
  std::vector<Ranked> kept;  // A heap with the last one on top.
  for (std::uint32_t i = 0; i < n && !stop(i); ++i) {
    Ranked item{.key = key(i), .item = i};
    if (kept.size() == most && !before(item, kept.front())) continue;
    if (kept.size() == most) {
      std::ranges::pop_heap(kept, before);
      kept.pop_back();
    }
    kept.push_back(item);
    std::ranges::push_heap(kept, before);
  }
  // Like sort_heap, but can be stopped.
  for (std::size_t left = kept.size(); left > 1 && !stop(left); --left) {
    std::pop_heap(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(left), before);
  }
  std::vector<std::uint32_t> items;
  for (const Ranked& item : kept) items.push_back(item.item);
  return items;
}

// Up to `most` items of that order after the first `skip` (fewer than n): by selection, so that a
// page deep in the list costs little more than the first one.
template <class KeyOf, class NameOf>
std::vector<std::uint32_t> ranked_page(std::size_t n, std::size_t skip, std::size_t most, KeyOf key,
                                       NameOf name, const Stop& stop) {
  std::vector<std::uint32_t> items;
  if (skip <= n / 16) {
    items = ranked(n, skip + most, key, name, stop);
    items.erase(items.begin(),
                items.begin() + static_cast<std::ptrdiff_t>(std::min(skip, items.size())));
    return items;
  }
  std::vector<Ranked> all;
  all.reserve(n);
  for (std::uint32_t i = 0; i < n && !stop(i); ++i) all.push_back({.key = key(i), .item = i});
  const RankedBefore<NameOf> before{name};
  const auto at = [&](std::size_t i) {
    return all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size()));
  };
  std::nth_element(all.begin(), at(skip), all.end(), before);
  std::partial_sort(at(skip), at(skip + most), all.end(), before);
  for (auto it = at(skip); it != at(skip + most); ++it) items.push_back(it->item);
  return items;
}

}  // namespace amdahl::scan
