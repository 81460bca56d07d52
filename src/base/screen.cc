#include "base/screen.h"

#include <algorithm>
#include <array>

#include "base/glyph.h"
#include "base/text.h"

namespace amdahl {
namespace {

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// Bytes of the control character at the start, or of one that changes the direction of text or ends
// its line; 0 if there is none.
std::size_t harmful_at(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x20 || byte == 0x7F) return 1;
  // U+0080 to U+009F are controls too, and some terminals obey them.
  if (byte == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0) return 2;
  constexpr auto kDirections = std::to_array<std::string_view>(
      {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066",
       "\u2067", "\u2068", "\u2069", "\u2028", "\u2029"});
  for (const std::string_view mark : kDirections) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    columns += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return columns;
}

std::string plain(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = harmful_at(text);
    result += bytes > 0 ? '?' : text.front();
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

std::string left(std::string_view text, std::size_t width) {
  const std::string clipped = clip(text, width);
  return clipped + std::string(width - std::min(width, columns_of(clipped)), ' ');
}

std::string right(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, columns_of(text)), ' ') + std::string(text);
}

std::string to_ascii(std::string_view text, std::span<const Sign> signs) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && !starts_code_point(text[end])) ++end;
    const std::string_view sign = text.substr(i, end - i);
    i = end;
    if (sign.size() == 1 && static_cast<unsigned char>(sign[0]) < 0x80) {
      result += sign;
      continue;
    }
    const auto known = std::ranges::find(signs, sign, &Sign::drawn);
    result += known == signs.end() ? '?' : known->ascii;
  }
  return result;
}

}  // namespace amdahl
