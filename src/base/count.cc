#include "base/count.h"

#include <fmt/core.h>

namespace amdahl {

std::string counted(std::int64_t n, std::string_view one, std::string_view many) {
  if (n == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", n, one) : fmt::format("{} {}", n, many);
}

}  // namespace amdahl
