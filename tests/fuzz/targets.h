// targets.h: what is fuzzed, a row each: any bytes in, no crash and no lie out.
#pragma once

#include <span>
#include <string_view>

namespace amdahl::fuzz {

struct Target {
  std::string_view name;  // Also of its folder in tests/fuzz/corpus/.
  void (*run)(std::string_view bytes);
};

std::span<const Target> targets();
const Target* find_target(std::string_view name);  // Null if there is none.

}  // namespace amdahl::fuzz
