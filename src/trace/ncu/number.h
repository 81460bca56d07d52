// number.h: numbers as tools print them in the language of whoever ran them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace amdahl::trace::ncu {

// What a text says of the mark before the fraction.
enum class Mark : std::uint8_t {
  kNone,   // It has none, or could be either: "1,024".
  kPoint,  // "61.84", "1,024.5", "1,000,000".
  kComma,  // "61,84", "1.024,5", "1.000.000".
};

Mark mark_of(std::string_view text);

// `comma` says which it is. Groups may be parted by the other mark, spaces of any kind or
// apostrophes. Nothing if it is no number: "CachePreferNone", "(256, 1, 1)", "n/a".
std::optional<double> number_of(std::string_view text, bool comma);

}  // namespace amdahl::trace::ncu
