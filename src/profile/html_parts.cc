#include "profile/html_parts.h"

#include <cmath>

#include <fmt/format.h>

namespace amdahl::profile {

std::string times_of(double factor) {
  if (std::isinf(factor)) return "no limit";
  return factor < 100 ? fmt::format("{:.2f}×", factor) : "over 100×";
}

}  // namespace amdahl::profile
