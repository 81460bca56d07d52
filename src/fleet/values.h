// values.h: numbers as tools write them: with units, and with their words for "no value".
#pragma once

#include <optional>
#include <string_view>

#include "model/fleet.h"

namespace amdahl::fleet {

// "", "N/A", "[N/A]", "[Not Supported]", "null", "-": no value, said in words.
bool is_blank_word(std::string_view text);
// The job that a label or a cell names; empty where that says "none": blanks, 0, -1, nan.
std::string_view job_in(std::string_view text);
// "7" of "7.0", as tools write the whole numbers of a column that has blanks.
std::string_view without_fraction(std::string_view text);

// DCGM's numbers for "no value", of 32 and 64 bits and of floating point, each with the next 15:
// not found, not supported, no permission.
bool is_blank_number(double value);

struct Value {
  double number = 0;
  std::optional<model::Trouble> trouble;  // kBlankValue, kNotFinite or kBadLine: no number.

  explicit operator bool() const { return !trouble; }
};

// "83 %", "189.70 W", "1e-3", "[N/A]". A unit after the number is passed over.
Value read_value(std::string_view text);

}  // namespace amdahl::fleet
