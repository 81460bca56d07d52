#include "trace/ncu/number.h"

#include <cmath>
#include <string>

#include "base/text.h"

namespace amdahl::trace::ncu {
namespace {

constexpr std::string_view kSpaces[] = {"\xC2\xA0", "\xE2\x80\xAF", " ", "'", "\xE2\x80\x99"};

// Without what only parts groups of digits.
std::string without_spaces(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    bool is_space = false;
    for (const std::string_view space : kSpaces) {
      if (!text.starts_with(space)) continue;
      text.remove_prefix(space.size());
      is_space = true;
      break;
    }
    if (is_space) continue;
    plain += text.front();
    text.remove_prefix(1);
  }
  return plain;
}

}  // namespace

Mark mark_of(std::string_view text) {
  const auto point = text.rfind('.');
  const auto comma = text.rfind(',');
  if (point == text.npos && comma == text.npos) return Mark::kNone;
  if (text.find_first_not_of("0123456789.,+- '") != text.npos && text.find('(') != text.npos) {
    return Mark::kNone;
  }
  if (point != text.npos && comma != text.npos) {
    return point > comma ? Mark::kPoint : Mark::kComma;
  }
  const bool is_point = point != text.npos;
  const auto last = is_point ? point : comma;
  const auto first = text.find(is_point ? '.' : ',');
  // Several of one kind part groups, so that the other is the mark.
  if (first != last) return is_point ? Mark::kComma : Mark::kPoint;
  const std::size_t after = text.size() - last - 1;
  const bool could_be_group = after == 3 && last > 0 && last <= 3 && text[0] != '0';
  if (could_be_group) return Mark::kNone;
  return is_point ? Mark::kPoint : Mark::kComma;
}

std::optional<double> number_of(std::string_view text, bool comma) {
  constexpr std::size_t kLongest = 64;
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  std::string plain = without_spaces(text);
  std::erase(plain, comma ? '.' : ',');
  for (char& c : plain) {
    if (c == ',') c = '.';
  }
  // "inf" and "nan" are what a metric becomes that could not be measured.
  const auto value = to_number<double>(plain);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

}  // namespace amdahl::trace::ncu
