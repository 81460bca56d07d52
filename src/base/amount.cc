#include "base/amount.h"

#include <cmath>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl {

std::string show_fixed(double value, int digits) {
  const double least = std::pow(10, -digits);
  if (value == 0 || std::abs(value) >= least / 2) return fmt::format("{:.{}f}", value, digits);
  return fmt::format("{} {:.{}f}", value > 0 ? "<" : ">", std::copysign(least, value), digits);
}

std::string show_amount(double value) {
  if (value != 0 && std::abs(value) < 1) return show_fixed(value, 2);
  if (!std::isfinite(value) || std::abs(value) < 99.5 || std::abs(value) >= 1e15) {
    return show_number(value);
  }
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return value < 0 ? "-" + digits : digits;
}

std::string show_size(double value) {
  return std::abs(value) < 9999.5 ? fmt::format("{:.4g}", value) : show_amount(value);
}

std::string show_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0 || size >= 0.0995) return show_number(seconds) + " s";
  const bool is_ms = size >= 99.5e-6;
  const double value = seconds * (is_ms ? 1e3 : 1e6);
  return show_number(value) + (is_ms ? " ms" : " µs");
}

std::string show_hours(double hours) {
  const double size = std::abs(hours);
  if (size == 0 || size >= 1) return show_amount(hours) + " h";
  if (size >= 1.0 / 60) return fmt::format("{:.1f} min", hours * 60);
  if (size >= 0.1 / 3600) return fmt::format("{:.1f} s", hours * 3600);
  return "< 0.1 s";
}

}  // namespace amdahl
