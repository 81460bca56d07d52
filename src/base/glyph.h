// glyph.h: the width of one character on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace amdahl {

struct Glyph {
  std::size_t bytes = 0;
  std::size_t columns = 0;  // 2 for CJK, kana, Hangul and emoji; 0 for combining marks.
};

// The first glyph of `text`, which must not be empty. An invalid UTF-8 byte takes one column.
Glyph first_glyph(std::string_view text);

}  // namespace amdahl
