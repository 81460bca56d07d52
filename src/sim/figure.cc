#include "sim/figure.h"

#include <cmath>

#include <fmt/core.h>

namespace amdahl::sim {

Figure share_of(int hits, int of) {
  if (of <= 0) return {};
  const double n = of;
  const double p = hits / n;
  return {p, std::sqrt(p * (1 - p) / n)};
}

Figure mean_of(std::span<const double> values) {
  const std::vector<double> ones(values.size(), 1.0);
  return ratio_of(values, ones);
}

Figure ratio_of(std::span<const double> above, std::span<const double> below) {
  double top = 0;
  double bottom = 0;
  for (const double value : above) top += value;
  for (const double value : below) bottom += value;
  if (bottom == 0) return {};
  const double ratio = top / bottom;
  const auto n = static_cast<double>(above.size());
  if (above.size() < 2) return {ratio, 0};
  double squares = 0;
  for (std::size_t i = 0; i < above.size(); ++i) {
    const double apart = above[i] - ratio * below[i];
    squares += apart * apart;
  }
  return {ratio, std::sqrt(squares * n / (n - 1)) / std::abs(bottom)};
}

Cell words(std::string text) { return {std::move(text), std::nullopt}; }

Cell shown(const Figure& figure, int digits) {
  if (figure.error == 0) return {fmt::format("{:.{}f}", figure.value, digits), figure};
  return {fmt::format("{:.{}f} ±{:.{}f}", figure.value, digits, figure.error, digits), figure};
}

Cell plain(double value, int digits) {
  return {fmt::format("{:.{}f}", value, digits), Figure{value, 0}};
}

}  // namespace amdahl::sim
