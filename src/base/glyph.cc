#include "base/glyph.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace amdahl {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Blocks rather than single code points: Unicode's East Asian Width W and F, rounded to them.
constexpr std::array kWide = std::to_array<Range>({{0x1100, 0x115F},
                                                   {0x2E80, 0x303E},
                                                   {0x3041, 0x33FF},
                                                   {0x3400, 0x4DBF},
                                                   {0x4E00, 0xA4CF},
                                                   {0xA960, 0xA97F},
                                                   {0xAC00, 0xD7A3},
                                                   {0xF900, 0xFAFF},
                                                   {0xFE30, 0xFE6F},
                                                   {0xFF01, 0xFF60},
                                                   {0xFFE0, 0xFFE6},
                                                   {0x1F300, 0x1F64F},
                                                   {0x1F680, 0x1F6FF},
                                                   {0x1F900, 0x1FAFF},
                                                   {0x20000, 0x3FFFD}});
constexpr std::array kNone = std::to_array<Range>({{0x0300, 0x036F},
                                                   {0x200B, 0x200F},
                                                   {0x20D0, 0x20FF},
                                                   {0xFE00, 0xFE0F},
                                                   {0xFE20, 0xFE2F},
                                                   {0xFEFF, 0xFEFF}});

bool is_in(const auto& ranges, std::uint32_t code) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return range.first <= code && code <= range.last; });
}

}  // namespace

Glyph first_glyph(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = at(0);
  if (lead < 0xC0 || lead >= 0xF8) return {1, 1};
  const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (i >= text.size() || (at(i) & 0xC0U) != 0x80U) return {1, 1};
    code = code << 6 | (at(i) & 0x3FU);
  }
  if (is_in(kNone, code)) return {bytes, 0};
  return {bytes, is_in(kWide, code) ? std::size_t{2} : std::size_t{1}};
}

}  // namespace amdahl
