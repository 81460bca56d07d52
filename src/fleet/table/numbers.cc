#include "fleet/table/numbers.h"

#include <string>

#include "base/text.h"

namespace amdahl::fleet::table {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && is_digit(text[at + count])) ++count;
  return count;
}

// "1,234,567" without its signs; empty if it is not grouped so.
std::string without_groups(std::string_view text, char decimal) {
  std::string plain;
  std::size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) plain += text[at++];
  const std::size_t first = digits_at(text, at);
  if (first == 0 || first > 3 || at + first >= text.size()) return {};
  const char sign = text[at + first];
  constexpr std::string_view kSigns = ",.' _";
  if (sign == decimal || kSigns.find(sign) == kSigns.npos) return {};
  plain += text.substr(at, first);
  at += first;
  while (at < text.size() && text[at] == sign) {
    if (digits_at(text, at + 1) != 3) return {};
    plain += text.substr(at + 1, 3);
    at += 4;
  }
  if (at < text.size() && text[at] == decimal) {
    plain += '.';
    plain += text.substr(at + 1);
  } else {
    plain += text.substr(at);
  }
  return plain;
}

}  // namespace

Value read_number(std::string_view text, char decimal) {
  if (decimal == '.') {
    const Value value = read_value(text);
    if (value.trouble != model::Trouble::kBadLine) return value;
  }
  text = trim(text);
  if (const std::string plain = without_groups(text, decimal); !plain.empty()) {
    return read_value(plain);
  }
  if (decimal != ',') return read_value(text);
  std::string plain(text);
  if (const std::size_t comma = plain.find(','); comma != plain.npos) {
    if (plain.find('.') != plain.npos) return {0, model::Trouble::kBadLine};
    plain[comma] = '.';
  }
  return read_value(plain);
}

char decimal_in(std::string_view text) {
  text = trim(text);
  const std::size_t sign = text.find_last_of(".,");
  if (sign == text.npos || sign == 0 || digits_at(text, sign + 1) == 0) return '\0';
  const std::size_t stop = text.find_first_not_of("0123456789.,-+ '_");
  if (stop != text.npos && stop < sign) return '\0';
  const char other = text[sign] == ',' ? '.' : ',';
  if (text.find(other) < sign) return text[sign];  // "1.234,5"
  if (text.find(text[sign]) != sign) return '\0';  // "1,234,567"
  // "1,234" may be either; "0,234", "12,5" and "1,2345" may not.
  const bool group = digits_at(text, sign + 1) == 3 && sign <= 4 && !text.starts_with('0');
  return group ? '\0' : text[sign];
}

}  // namespace amdahl::fleet::table
