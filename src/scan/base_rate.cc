#include "scan/base_rate.h"

#include <algorithm>
#include <cmath>

namespace amdahl::scan {

BaseRate fixed_rate() { return counted_rate(600, 706, ""); }

BaseRate published_rate() {
  const BaseRate fixed = fixed_rate();
  return {.mean = fixed.mean * 0.51,
          .lower = fixed.lower * 0.22,
          .upper = fixed.upper * 0.71,
          .source =
              "published: 600 of 706 such causes were fixed by a few lines (ICSE 2024); "
              "fixes reached 22 to 71 % of their ceiling (kineto samples)"};
}

BaseRate counted_rate(std::uint64_t won, std::uint64_t tried, std::string_view source) {
  if (tried == 0) return {.mean = 0, .lower = 0, .upper = 1, .source = source};
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(tried);
  const double p = static_cast<double>(won) / n;
  const double middle = (p + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half = kZ / (1 + kZ * kZ / n) * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {.mean = p,
          .lower = std::max(0.0, middle - half),
          .upper = std::min(1.0, middle + half),
          .source = source};
}

}  // namespace amdahl::scan
