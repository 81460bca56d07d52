// text.h: small string functions.
#pragma once

#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view trim(std::string_view text);
std::string lower(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char at);  // Keeps empty pieces.
std::string join(std::span<const std::string> pieces, std::string_view between);

// All of `text` as a number, or nothing.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

// The candidate nearest to `word`, if near enough to be a typo.
std::optional<std::string_view> did_you_mean(std::string_view word,
                                             std::span<const std::string_view> candidates);

// A shell-quoted command line, ready to paste.
std::string shell_quote(std::span<const std::string> argv);

// "1.23 s", "4 min 5 s", "3 h 02 min", "12 ms".
std::string show_duration(Nanos time);

// 0.1234 as "12.3 %".
std::string show_percent(double share);

// At least three significant digits, never an exponent: "0.0123", "12.3", "1234", "< 0.0001".
std::string show_number(double value);

// `text` truncated to `width` columns (see columns_of()); "…" marks the cut.
std::string clip(std::string_view text, std::size_t width);

}  // namespace amdahl
