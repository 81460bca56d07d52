// draw.h: draws the account of a comparison for a terminal.
#pragma once

#include <string>

#include "compare/account.h"

namespace amdahl::compare {

// Minimum width for the picture.
inline constexpr int kNarrowest = 50;

struct Look {
  int width = 100;  // At least kNarrowest. Only a path may be wider.
  bool colour = false;
  bool ascii = false;
};

// The verdict, both arms, the picture, the facts, remarks, and how to get a decision. In the
// picture each pair is a row: its value, and the interval of all pairs so far. With more than
// kMostRows pairs, the last ones are shown. Control characters in commands become "?".
inline constexpr std::size_t kMostRows = 60;
std::string draw(const Account& account, const Look& look);

}  // namespace amdahl::compare
