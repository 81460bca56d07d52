// number.h: parses numbers printed in the user's locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace amdahl::trace::ncu {

// Which decimal separator a text shows.
enum class Mark : std::uint8_t {
  kNone,   // None, or ambiguous: "1,024".
  kPoint,  // "61.84", "1,024.5", "1,000,000".
  kComma,  // "61,84", "1.024,5", "1.000.000".
};

Mark mark_of(std::string_view text);

// `comma`: the decimal separator is a comma. Groups may be separated by the other mark, any space
// or apostrophes. Nothing if it is not a number: "CachePreferNone", "(256, 1, 1)", "n/a".
std::optional<double> number_of(std::string_view text, bool comma);

}  // namespace amdahl::trace::ncu
