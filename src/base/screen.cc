#include "base/screen.h"

#include <algorithm>

#include "base/glyph.h"
#include "base/text.h"

namespace amdahl {
namespace {

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

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
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are controls too, and some terminals obey them.
    const bool is_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    result += byte < 0x20 || byte == 0x7F || is_c1 ? '?' : text[i];
    if (is_c1) ++i;
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
