// count.h: a number with its noun in singular or plural.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl {

// "1 pair", "2 pairs". Pass `many` for irregular plurals: counted(0, "family", "families").
std::string counted(std::int64_t n, std::string_view one, std::string_view many = {});

}  // namespace amdahl
