// decimal.h: parses numbers of a trace, exact to the nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace amdahl::trace::kineto {

// The input is a JSON token: a number, or a number in quotes, with optional white space. No
// floating point: epoch microseconds with three decimals do not fit a double.

// Microseconds as nanoseconds, rounded half away from zero. Nothing if it is not a number (NaN,
// null, empty) or does not fit.
std::optional<std::int64_t> nanos_of(std::string_view token);

// Integers; a fraction is truncated. Accepts hexadecimal after 0x.
std::optional<std::int64_t> integer_of(std::string_view token);

// For measured values, not times.
std::optional<double> real_of(std::string_view token);

}  // namespace amdahl::trace::kineto
