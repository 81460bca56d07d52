// values.h: parses numbers as written by tools: with units and markers for "no value".
#pragma once

#include <optional>
#include <string_view>

#include "model/fleet.h"

namespace amdahl::fleet {

// "", "N/A", "[N/A]", "[Not Supported]", "null", "-".
bool is_blank_word(std::string_view text);
// The job in a label or cell; empty for "none": blanks, 0, -1, nan.
std::string_view job_in(std::string_view text);
// "7" for "7.0": integers of a column with blanks.
std::string_view without_fraction(std::string_view text);

// DCGM's blank values, 32-bit, 64-bit and floating point, each with the next 15 codes: not found,
// not supported, no permission.
bool is_blank_number(double value);

struct Value {
  double number = 0;
  std::optional<model::Trouble> trouble;  // kBlankValue, kNotFinite or kBadLine: not a number.

  explicit operator bool() const { return !trouble; }
};

// "83 %", "189.70 W", "1e-3", "[N/A]". A unit after the number is ignored.
Value read_value(std::string_view text);

}  // namespace amdahl::fleet
