// draw.h: an account of a comparison as text for a terminal.
#pragma once

#include <string>

#include "compare/account.h"

namespace amdahl::compare {

// The least width that has room for the picture.
inline constexpr int kNarrowest = 50;

struct Look {
  int width = 100;  // Taken as kNarrowest if less. Only a path may be wider.
  bool colour = false;
  bool ascii = false;
};

// The verdict, both arms, the picture, the facts, remarks, and what would settle it. In the picture
// each pair is a row: where it fell, and the interval of all pairs up to it, which narrows. Of more
// than kMostRows pairs the last are shown. Control characters in commands are shown as "?".
inline constexpr std::size_t kMostRows = 60;
std::string draw(const Account& account, const Look& look);

}  // namespace amdahl::compare
