#include "fleet/values.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace amdahl::fleet {

bool is_blank_word(std::string_view text) {
  if (text.starts_with('[')) return true;  // "[Not Supported]", "[Unknown Error]", "[GPU is lost]".
  for (const std::string_view word :
       {"", "N/A", "n/a", "NA", "null", "NULL", "None", "none", "-", "--", "Not Supported",
        "Unknown", "Not Found", "ERR!", "\\N"}) {
    if (text == word) return true;
  }
  return false;
}

std::string_view job_in(std::string_view text) {
  text = without_fraction(text);
  const bool is_none = text == "0" || text == "-1" || text == "nan" || text == "NaN" ||
                       text == "unknown" || is_blank_word(text);
  return is_none ? std::string_view() : text;
}

std::string_view without_fraction(std::string_view text) {
  if (!text.ends_with(".0")) return text;
  const std::string_view whole = text.substr(0, text.size() - 2);
  return !whole.empty() && whole.find_first_not_of("0123456789") == whole.npos ? whole : text;
}

bool is_blank_number(double value) {
  constexpr double kInt32 = 0x7ffffff0;
  constexpr double kFloat = 140737488355328.0;
  constexpr double kInt64 = 9223372036854774784.0;  // The last double before 2^63 - 16.
  return (value >= kInt32 && value <= kInt32 + 15) || (value >= kFloat && value <= kFloat + 15) ||
         (value >= kInt64 && value < 1e19);
}

Value read_value(std::string_view text) {
  using model::Trouble;
  constexpr double kLargest = std::numeric_limits<float>::max();
  text = trim(text);
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    text = trim(text.substr(1, text.size() - 2));
  }
  if (is_blank_word(text)) return {0, Trouble::kBlankValue};
  if (text.front() == '+') text.remove_prefix(1);
  double number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return {0, Trouble::kNotFinite};
  if (error != std::errc{}) return {0, Trouble::kBadLine};
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(stopped - text.data())));
  // "2023-01-01" and "1.2.3" are no numbers with a unit.
  if (!unit.empty() && (unit.size() > 10 || unit.find_first_of("0123456789-:.,") != unit.npos)) {
    return {0, Trouble::kBadLine};
  }
  // Samples are floats.
  if (!(std::abs(number) <= kLargest)) return {0, Trouble::kNotFinite};
  if (is_blank_number(number)) return {0, Trouble::kBlankValue};
  return {number, std::nullopt};
}

}  // namespace amdahl::fleet
