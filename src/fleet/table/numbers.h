// numbers.h: parses numbers as written in tables: 1,234.5, 1'234, 0,75, 12 %.
#pragma once

#include <string_view>

#include "fleet/values.h"

namespace amdahl::fleet::table {

// Like read_value(), with thousands separators (comma, apostrophe, blank, underscore). `decimal`
// is ',' or '.'. With a point, "0,75" is not a number.
Value read_number(std::string_view text, char decimal);

// The decimal separator that the cell shows: ',' for "0,75", '.' for "0.75", 0 for neither.
char decimal_in(std::string_view text);

}  // namespace amdahl::fleet::table
