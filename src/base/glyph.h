// glyph.h: how much room one sign takes on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace amdahl {

struct Glyph {
  std::size_t bytes = 0;
  std::size_t columns = 0;  // 2 for CJK, kana, Hangul and emoji, 0 for marks on what is before.
};

// The first of `text`, which has one; a byte that is no UTF-8 takes a column.
Glyph first_glyph(std::string_view text);

}  // namespace amdahl
