// decimal.h: numbers of a trace from their text, exact to the nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace amdahl::trace::kineto {

// A JSON token: a number, or a number in quotes, with white space around it. No float on the way:
// epoch microseconds with three decimals do not fit a double.

// Microseconds as nanoseconds, rounded half away from zero. Nothing for what is no number (NaN,
// null, empty) or does not fit.
std::optional<std::int64_t> nanos_of(std::string_view token);

// Whole numbers; a fraction is cut off. Also hexadecimal after 0x.
std::optional<std::int64_t> integer_of(std::string_view token);

// For figures that are measured, not times.
std::optional<double> real_of(std::string_view token);

}  // namespace amdahl::trace::kineto
