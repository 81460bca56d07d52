// unit.h: formats accelerator time in a readable unit.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/amount.h"

namespace amdahl::scan {

struct TimeUnit {
  double seconds = 3600;
  std::string_view name = "accelerator-hours";

  std::string operator()(double accelerator_seconds) const {
    return show_amount(accelerator_seconds / seconds);
  }
};

// Hours; seconds for small amounts.
constexpr TimeUnit unit_of(double accelerator_seconds) {
  constexpr double kFewSeconds = 36;  // 1/100 of an hour.
  if (accelerator_seconds <= 0 || accelerator_seconds >= kFewSeconds) return {};
  return {1, "accelerator-seconds"};
}

// "12.5 accelerator-hours".
inline std::string in_words(double accelerator_seconds) {
  const TimeUnit unit = unit_of(accelerator_seconds);
  return fmt::format("{} {}", unit(accelerator_seconds), unit.name);
}

}  // namespace amdahl::scan
