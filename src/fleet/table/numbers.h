// numbers.h: numbers as people write them in tables: 1,234.5, 1'234, 0,75, 12 %.
#pragma once

#include <string_view>

#include "fleet/values.h"

namespace amdahl::fleet::table {

// As read_value(), and with signs between groups of three digits (comma, apostrophe, blank, low
// line). `decimal` is ',' or '.': what stands before a fraction. "0,75" is no number where the sign
// is a point.
Value read_number(std::string_view text, char decimal);

// What the cell says of the sign before fractions: ',' for "0,75", '.' for "0.75", 0 for neither.
char decimal_in(std::string_view text);

}  // namespace amdahl::fleet::table
